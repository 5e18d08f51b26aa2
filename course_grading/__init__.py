"""Exercises that are checked while you learn, and graded where nothing in the notebook can reach the grader.

In a notebook: `check("02.1", your_function)`, `hint("02.1")`, `report()`. For a class: `python -m course_lib grade`.
"""

from course_grading.session import check, hint, report

__all__ = ["check", "hint", "report"]
