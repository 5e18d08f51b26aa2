"""Exercise 16.3: which fault of a blurred loss made which row of distances; the words and what each would have made.

The rows stand in the task; that these faults make them is tested, in tests/grading/test_chapter_16.py.
"""

from course_grading.exercise import Wrong

ROWS = {
    "A": "edge repeated", "B": "squared first", "C": "margin kept", "D": "wrapped round", "E": "weight missing",
}  # fmt: skip
MADE = {  # what the fault does to the distances from place 2, squares in the middle of the image's height
    "edge repeated": "only the places at the edge, 0 and 7, would stand out: their squares are continued for ever, and "
    "the distances between all other places would be those of the right loss.",
    "mirrored": "every distance would be from two to more than four times that of the right loss, because the squares' "
    "mirror images are blurred into the picture, too.",
    "wrapped round": "all other places would be at one and the same distance, to the last digit.",
    "squared first": "neighbours would be no nearer than others, and places at the edge nearer: the squared "
    "error of any two is 128 ones, and near the edge a part of their blur is cut off.",
    "one blurred": "place 2 itself would be far away, since an image is not its own blur.",
    "margin kept": "the edge would not matter: places 0 and 4 would be equally far from 2, and each place beyond the "
    "neighbours farther by the same amount.",
    "weight missing": "every distance would be the sharp term's 128 and a little more.",
}
WORDS = tuple(MADE)
ROWS_WRONG = {
    (row, word): f"{row}: not {word!r}, with which {made}"
    for row, right in ROWS.items()
    for word, made in MADE.items()
    if word != right
}
_GIVEN = (
    ("A", "mirrored"), ("A", "margin kept"), ("B", "weight missing"), ("B", "edge repeated"), ("C", "mirrored"),
    ("C", "edge repeated"), ("D", "weight missing"), ("D", "one blurred"), ("E", "wrapped round"),
    ("E", "squared first"),
)  # fmt: skip
FAULTS_WRONG = tuple(Wrong({**ROWS, row: word}, ROWS_WRONG[row, word]) for row, word in _GIVEN)
