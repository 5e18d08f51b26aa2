"""Replication: what the papers claim, so that runs can be held against it."""

from course_lib.replication.claims import Claim, Expectation, Number, load_claims

__all__ = ["Claim", "Expectation", "Number", "load_claims"]
