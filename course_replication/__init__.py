"""Replication: what the papers claim, runs that test it, and verdicts, computed from both."""

from importlib import import_module

from course_replication.cards import Card, badge_of, card, claims_of
from course_replication.claims import Claim, Expectation, Number, load_claims
from course_replication.comparisons import Compared, Ordered
from course_replication.runs import Context, Run
from course_replication.shipped import shipped_data, shipped_model, shipped_model_card
from course_replication.store import Store
from course_replication.verdicts import Verdict, best_verdict, verdict_of

__all__ = [
    "Card", "Claim", "Compared", "Context", "Expectation", "Number", "Ordered", "Prediction", "Report", "Run", "Store",
    "Verdict", "badge_of", "best_verdict", "card", "claims_of", "load_claims", "read_prediction", "report",
    "shipped_data", "shipped_model", "shipped_model_card", "train_sealed", "verdict_of",
]  # fmt: skip

# What trains is imported when it is asked for: cards and verdicts need no PyTorch.
_LATER = dict.fromkeys(("Prediction", "read_prediction"), "predictions") | dict.fromkeys(
    ("Report", "report", "train_sealed"), "outcomes"
)


def __getattr__(name: str):
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
