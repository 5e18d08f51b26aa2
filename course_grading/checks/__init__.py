"""One file for each chapter, named after it: inputs, reference, mistakes and other right answers of its exercises.

`EXERCISES` maps an exercise's number to its check. What a student reads (title, points, hints, …) stands in the
notebook with the solutions alone.
"""
