"""README says how many claims the scorecard has, in round words: they may not drift from the list."""

import re
from pathlib import Path

from course_replication import load_claims
from course_replication.claims import PAPERS

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_counts_the_claims():
    """Of the five papers: those of later ones are counted apart."""
    claims = [claim for claim in load_claims() if claim.paper in PAPERS]
    (said,) = re.findall(r"\bsome\s+(\d+)\s+claims\b", README.read_text(encoding="utf-8"))
    assert abs(int(said) - len(claims)) <= 10
