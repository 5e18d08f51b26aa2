"""The arms of settings.yml, which runs of claims name: settings, and in what these depart from the paper."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from course_replication.strict_yaml import load_strictly

SETTINGS = Path(__file__).with_name("settings.yml")
FIELDS = ("over", "measurement", "settings", "device", "deviations")  # of an arm in settings.yml
NAME = re.compile(r"[a-z0-9.-]+")  # of a deviation; what looks otherwise is its text


@dataclass(frozen=True)
class Arm:
    """How something is measured.

    measurement, settings, device : as in `Run`; None where another arm says it. deviations : names and texts.
    """

    measurement: str | None = None
    settings: dict = field(default_factory=dict, hash=False)
    device: str | None = None
    deviations: tuple[str, ...] = ()

    def under(self, upper: "Arm") -> "Arm":
        """Both: what the upper arm says wins, and deviations add up."""
        return Arm(
            upper.measurement or self.measurement,
            self.settings | upper.settings,
            upper.device or self.device,
            tuple(dict.fromkeys((*self.deviations, *upper.deviations))),
        )


def arm_named(scale: str, names: str | Sequence[str]) -> Arm:
    """The arm of that name at that scale, or several laid on top of each other. A ValueError names an unknown one."""
    found = Arm()
    for name in [names] if isinstance(names, str) else names:
        entry = _file()["arms"].get(scale, {}).get(name)
        if entry is None:
            known = ", ".join(_file()["arms"].get(scale, {})) or "none"
            raise ValueError(f"arm: got {name!r}; expected one of scale {scale}: {known}.")
        unknown = sorted(entry.keys() - {*FIELDS})
        if unknown:
            raise ValueError(f"arm {name}: got the fields {unknown}; expected some of {', '.join(FIELDS)}.")
        own = {key: value for key, value in entry.items() if key not in ("over", "deviations")}
        own["deviations"] = tuple(entry.get("deviations", ()))
        found = found.under(arm_named(scale, entry.get("over", ())).under(Arm(**own)))
    return found


def seeds_at(scale: str) -> int:
    """With how many seeds each run of that scale is repeated."""
    return _file()["seeds"][scale]


def deviation_text(name: str, settings: Mapping) -> str:
    """What a deviation is called in settings.yml, in words, for a run with those settings; texts are as they are."""
    texts = _file()["deviations"]
    if NAME.fullmatch(name) and name not in texts:
        raise ValueError(f"deviation: got {name!r}; expected a text, or a name that settings.yml explains.")
    return re.sub(r"\{(\w+)\}", lambda found: _in_words(settings[found[1]]), texts.get(name, name))


def redrawn_of(datasets: Iterable[str]) -> tuple[str, ...]:
    """The deviations, by name, of runs on images of those datasets: that the course draws some of them again."""
    return tuple(name for name, drawn in _file()["redrawn"].items() if not set(drawn).isdisjoint(datasets))


def _in_words(value) -> str:
    if isinstance(value, list):
        return ", ".join(map(_in_words, value))
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


@cache
def _file() -> dict:
    return load_strictly(SETTINGS.read_text(encoding="utf-8"))
