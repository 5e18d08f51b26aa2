"""In how many settings constructions are seen: it is counted, and what is left out is not counted."""

import pytest

from course_replication.claims import load_claims
from course_replication.measurements import bounds, capacity, identities, latent_laws, mean_field, nested_prior, norms
from course_replication.plans import parts_of
from course_replication.runs import measurement_of
from course_replication.store import Store
from course_replication.verdicts import SETTINGS

CONSTRUCTIONS = [claim for claim in load_claims() if claim.evidence == "construction" and "exact" in claim.runs]


@pytest.mark.parametrize(
    "module, name, few, measurement, settings",
    [
        (mean_field, "MODELS", mean_field.MODELS[:2], "mean_field.rotations", {}),
        (nested_prior, "LAWS", nested_prior.LAWS[:1], "nested_prior.total_mass", {}),
        (norms, "GRIDS", {"square": (8, 8)}, "norms.aligned", {"num_pairs": 50}),
        (bounds, "MODELS", {"line": bounds.MODELS["line"]}, "bounds.two_forms", {}),
        (latent_laws, "EQUAL", latent_laws.EQUAL[:2], "latent_laws.equal_exponents", {}),
    ],
)
def test_what_is_left_out_is_not_counted(context, monkeypatch, module, name, few, measurement, settings):
    monkeypatch.setattr(module, name, few)
    assert measurement_of(measurement)(context, **settings)["settings"] == len(few)


@pytest.mark.parametrize("claim", CONSTRUCTIONS, ids=lambda claim: claim.id)
def test_constructions_are_seen_in_three_settings(claim):
    """A count that is stored is a whole number; where there is none, as many numbers and steps are compared."""
    results = Store().results()
    for part in parts_of(claim, "small"):
        metrics = [results[run.id]["metrics"] for run in part.runs() if run.id in results]
        compared = len(claim.numbers) * (claim.expects.match == "value")
        compared += sum(chain.count(" > ") for chain in claim.expects.order)
        counts = [found.get("settings", compared) for found in metrics]
        fails = not all(found.get(name, True) for found in metrics for name in claim.expects.holds)
        assert all(type(count) is int and (count >= SETTINGS or fails) for count in counts)


def test_an_edge_that_fails_is_seen(context, monkeypatch):
    """A single image, of which a code tells nothing, is among what is measured, and so is a batch of one."""
    right = identities._parts
    monkeypatch.setattr(
        identities, "_parts", lambda means, spreads: right(means, spreads) | {"information": float(len(means) == 1)}
    )
    assert not identities.decomposition(context)["identity-to-rounding"]
    sizes = []
    monkeypatch.setattr(
        capacity, "_two_losses", lambda images, *rest: sizes.append(len(images)) or ({1.0: 1.0, 4.0: 4.0}, 1.0, 1.0)
    )
    assert capacity.loss_at_one(context)["settings"] == len(sizes) == 3 and 1 in sizes
