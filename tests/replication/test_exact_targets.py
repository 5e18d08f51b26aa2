"""The exact targets are on the list as they are printed: typed again here, from the plan of the replication."""

import pytest

from course_replication import load_claims
from course_replication.plans import parts_of

BY_ID = {claim.id: claim for claim in load_claims()}


def printed(name):
    return {number.what: number.value for number in BY_ID[name].numbers}


def row(names, values):
    """ "a b" and ".66 1.00": the names and their values as printed in full."""
    return {name: f"0{value}" if value[0] == "." else value for name, value in zip(names, values.split(), strict=True)}


SPACINGS = range(1, 9)
TARGETS = {
    "distances/table-a.2-xysquares": row(
        [f"{moment}/{channel}" for moment in ("mean", "std") for channel in ("red", "green", "blue")],
        ".015625 .015625 .015625 .124034734589209 .124034734589209 .124034734589209",
    ),
    "distances/table-a.2-xyobject": row(
        [f"{moment}/{channel}" for moment in ("mean", "std") for channel in ("red", "green", "blue")],
        ".009818761549013 .009818761549013 .009818761549013 .052632363725246 .052632363725246 .052632363725246",
    ),
    "distances/table-a.2-dsprites": {"std": "0.195166458806261"},  # the renderer was fitted to the mean
    "distances/table-3.1-xysquares": row(
        ["mse/random/mean", "mse/random/std", "mse/factors/mean", "mse/factors/std"], ".0308 .0022 .0104 .0000"
    ),
    "distances/table-3.1-dsprites": row(
        [
            f"mse/{factor}/{moment}"
            for factor in ("random", "position_y", "position_x", "scale", "shape", "orientation")
            for moment in ("mean", "std")
        ],
        ".0754 .0289 .0584 .0378 .0559 .0363 .0250 .0148 .0214 .0095 .0172 .0106",
    ),
    "distances/table-4.1-dsprites": {
        **row(
            [f"mse/{f}/rank" for f in ("shape", "scale", "orientation", "position_x", "position_y", "random")],
            ".72 .95 .17 .75 .75 .38",
        ),
        **row(
            [f"mse/{f}/linear" for f in ("shape", "scale", "orientation", "position_x", "position_y", "random")],
            ".66 .93 .13 .66 .65 .43",
        ),
        **row(
            [
                f"mse-box/{factor}/{correlation}"
                for factor in ("shape", "scale", "orientation", "position_x", "position_y", "random")
                for correlation in ("linear", "rank")
            ],
            ".66 .87 .84 .96 .15 .21 .63 .83 .63 .83 .29 .36",
        ),
    },
    "distances/table-4.2": row(
        [
            f"{loss}/spacing-{spacing}/{correlation}"
            for loss in ("mse", "mse-box")
            for spacing in SPACINGS
            for correlation in ("linear", "rank")
        ],
        "1.00 1.00 .94 .99 .86 .95 .75 .85 .72 .85 .67 .85 .60 .85 .52 .58 "
        ".98 .99 .99 .99 .99 .99 .99 .99 .99 .99 .98 .98 .97 .98 .96 .97",
    ),
    "distances/table-6.1": row(
        [
            f"{loss}/{pairs}/{correlation}"
            for loss in ("mse", "mse-gaussian", "mse-box")
            for pairs in ("factors", "random")
            for correlation in ("linear", "rank")
        ],
        ".52 .58 .55 .36 .84 .88 .73 .61 .96 .97 .95 .94",
    ),
}


@pytest.mark.parametrize("name", TARGETS)
def test_exact_targets_are_there_as_printed(name):
    assert BY_ID[name].kind == "exact" and BY_ID[name].expects.match == "value"
    assert printed(name) == TARGETS[name]


@pytest.mark.parametrize(
    ("name", "what", "tolerance"),
    [
        ("distances/table-a.2-xysquares", "std/red", 1e-15),
        ("distances/table-a.2-xyobject", "std/red", 5e-10),
        ("distances/table-a.2-dsprites", "std", 5e-4),
        ("distances/table-3.1-xysquares", "mse/random/mean", 5e-5),
        ("distances/table-3.1-dsprites", "mse/shape/mean", 0.002),
        ("distances/table-4.1-dsprites", "mse/shape/rank", 0.01),
        ("distances/table-4.1-dsprites", "mse/shape/linear", 0.02),
        ("distances/table-4.2", "mse/spacing-8/rank", 0.005),
    ],
)
def test_how_near_exact_targets_have_to_be(name, what, tolerance):
    number = next(number for number in BY_ID[name].numbers if number.what == what)
    assert number.tolerance == pytest.approx(tolerance, rel=1e-12)


def test_learnt_kernels_have_a_claim_of_their_own_and_are_compared_as_numbers():
    """.97/.98 along factors and .96/.96 at random for radius 31, 1.00/.99 and 1.00/1.00 for radius 63 (Table 6.1)."""
    claim = BY_ID["distances/table-6.1-learnt"]
    rows = {"31/factors": (".97", ".98"), "31/random": (".96", ".96"), "63/factors": ("1.00", ".99")}
    expected = {
        f"learnt-{place}/{correlation}": float(value)
        for place, pair in (rows | {"63/random": ("1.00", "1.00")}).items()
        for correlation, value in zip(("linear", "rank"), pair, strict=True)
    }
    assert {what: float(value) for what, value in printed(claim.id).items()} == expected
    assert (claim.kind, claim.expects.match, claim.expects.threshold) == ("trained", "value", "paper")
    assert {part.settings["steps"] for part in parts_of(claim, "full")} == {claim.settings["steps"]} == {28_800}


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("distances/figure-4.3", "axis-alignment-is-that-times-the-cosine-of-twice-the-angle"),
        ("isa/appendix-b.3", "likelihood-constant-under-rotation"),
        ("isa/appendix-b.4", "free-energy-highest-at-0"),
        ("isa/appendix-b.5", "same-optimal-angle-for-every-beta"),
        ("isa/appendix-b.8-vi", "more-orthogonal-than-the-truth"),
        ("isa/appendix-b.8-beta", "two-at-a-right-angle-by-beta-5-alone/noisy"),
        ("assumptions/theorem-1", "no-zero-partial-derivative"),
        ("assumptions/theorem-1", "same-joint-law"),
        ("factorvae/section-4", "all-but-one-scores-1"),
    ],
)
def test_exact_constructions_are_there(name, holds):
    assert BY_ID[name].kind == "theory" and holds in BY_ID[name].expects.holds and BY_ID[name].importance == 1


def test_known_contradictions_are_noted():
    assert "no effect" in BY_ID["distances/table-5.2"].notes
    assert "x .058 before y .057" in BY_ID["distances/section-3.5"].notes
    assert "factor 2" in BY_ID["assumptions/theorem-1-matrix"].notes
