"""README says how many claims the scorecard has, in round words, and how they fare: neither may go stale."""

import re
from pathlib import Path

import scorecard_counts
from course_replication import Store, best_verdict, load_claims
from course_replication.claims import PAPERS

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_counts_the_claims():
    """Of the five papers: those of later ones are counted apart."""
    claims = [claim for claim in load_claims() if claim.paper in PAPERS]
    (said,) = re.findall(r"\bsome\s+(\d+)\s+claims\b", README.read_text(encoding="utf-8"))
    assert abs(int(said) - len(claims)) <= 10


def test_the_readme_counts_the_matches_as_the_results_do():
    results = Store().results()
    line = scorecard_counts.headline(best_verdict(claim, results) for claim in load_claims())
    assert line in README.read_text(encoding="utf-8").splitlines(), "run `make scorecard`"
    assert len(line) < 400
