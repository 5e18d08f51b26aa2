"""Replication: what the papers claim, runs that test it, and verdicts, computed from both."""

from course_replication.cards import Card, badge_of, card, claims_of
from course_replication.claims import Claim, Expectation, Number, load_claims
from course_replication.comparisons import Compared, Ordered
from course_replication.outcomes import Report, report, train_sealed
from course_replication.predictions import Prediction, read_prediction
from course_replication.runs import Context, Run
from course_replication.shipped import shipped_data, shipped_model, shipped_model_card
from course_replication.store import Store
from course_replication.verdicts import Verdict, best_verdict, verdict_of

__all__ = [
    "Card", "Claim", "Compared", "Context", "Expectation", "Number", "Ordered", "Prediction", "Report", "Run", "Store",
    "Verdict", "badge_of", "best_verdict", "card", "claims_of", "load_claims", "read_prediction", "report",
    "shipped_data", "shipped_model", "shipped_model_card", "train_sealed", "verdict_of",
]  # fmt: skip
