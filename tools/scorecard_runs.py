"""The page of all runs: which settings, seeds, times, devices and versions stand behind the scorecard."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby

from course_replication import Verdict
from course_replication.plans import runs_of
from course_replication.runs import measurement_of
from course_replication.words import sentence
from scorecard_claims import plain_text, runs_behind
from scorecard_pages import MADE

HEAD = """# The runs

One entry for each configuration: the settings, then what it took. Its twelve digits change with anything in the
configuration but the seed. A commit with "+" had changes that were not committed yet. Any of them is run again by
`python -m course_lib replicate CLAIM` with another `--store`, and a training of scale full with `--scale full`."""


def page(results: Mapping[str, dict], verdicts: Sequence[Verdict]) -> str:
    """The stored results by measurement and configuration, with the claims that rest on them."""
    claims = claims_of(verdicts)
    parts, ordered = [MADE, HEAD], sorted(results.values(), key=_place)
    for module, of_module in groupby(ordered, key=lambda result: _names(result["measurement"])[0]):
        parts.append(f"## {in_words(module)}")
        for measurement, of_measurement in groupby(of_module, key=lambda result: result["measurement"]):
            same = [[*group] for _, group in groupby(of_measurement, key=lambda result: result["config_hash"])]
            parts += [folded(measurement, same), _what(measurement)]
            parts += [*(entry(results, claims) for results in same), "</details>"]
    return "\n\n".join(parts) + "\n"


def folded(measurement: str, configurations: Sequence[Sequence[dict]]) -> str:
    """The line to which a measurement's configurations are folded; a link to one of them opens it."""
    results = [result for same in configurations for result in same]
    took = duration(sum(result["seconds"] for result in results))
    size = f"{_plural(len(configurations), 'configuration')}, {_plural(len(results), 'run')}, {took}"
    name = f"<b>{escape(_names(measurement)[1].replace('_', ' ').capitalize())}</b>"
    return f"<details><summary>{name} <code>{escape(measurement)}</code>: {size}</summary>"


def in_all(verdicts: Sequence[Verdict], results: Mapping[str, dict]) -> str:
    """How many runs stand behind the claims, and how long they took, in a sentence."""
    stored = [results[run] for run in claims_of(verdicts) if run in results]
    if not stored:
        return "No run is stored."
    took = duration(sum(result["seconds"] for result in stored))
    return f"{_plural(len(stored), 'run')} took {took}, of which [each](runs.md) is listed."


def entry(results: Sequence[dict], claims: Mapping[str, list[str]]) -> str:
    """One configuration: `results` differ in nothing but the seed, and what came of it."""
    first = results[0]
    digits = first["config_hash"]
    settings = ", ".join(f"{name} {_shown(value)}" for name, value in first["settings"].items()) or "no settings"
    seeds = [result["seed"] for result in results]
    total = sum(result["seconds"] for result in results)
    spans = f"{'seed' if len(seeds) == 1 else 'seeds'} {_ranges(seeds)}; {duration(total)}"
    where = sorted({_device(result["device"]) for result in results})
    versions = sorted(
        {", ".join(f"{name} {number}" for name, number in result["versions"].items()) for result in results}
    )
    commits = sorted(
        {(result["commit"] or "none")[:8] + ("+" * str(result["commit"]).endswith("+")) for result in results}
    )
    links = ", ".join(f"[{name}](#{name})" for result in results[:1] for name in claims.get(result["id"], ()))
    took = f"{spans}; {plain_text('; '.join([*where, *versions]))}; commit {', '.join(commits)}"
    return f"(run-{digits})=\n`{digits}` {first['scale']}: {plain_text(settings)}\n: {took}. For {links or 'no claim'}."


def claims_of(verdicts: Sequence[Verdict]) -> dict[str, list[str]]:
    """Id of a run → the claims that it answers."""
    found: dict[str, list[str]] = {}
    for each in verdicts:
        for run in dict.fromkeys([*runs_of(each.claim, "full"), *runs_of(each.claim, "small")]):
            found.setdefault(run.id, []).append(each.claim.id)
    return found


def links(verdict: Verdict) -> str:
    """A claim's configurations, linked to this page."""
    digits = dict.fromkeys(run.config_hash for run in runs_behind(verdict))
    return ("run " if len(digits) == 1 else "runs ") + ", ".join(f"[`{each}`](#run-{each})" for each in digits)


def duration(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def in_words(name: str) -> str:
    return plain_text(name.replace("_", " ").capitalize())


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def _names(measurement: str) -> tuple[str, str]:
    """Module and function: "tables.moments" → ("tables", "moments")."""
    module, _, function = measurement.replace(":", ".").rpartition(".")
    return module, function


def _place(result: dict) -> tuple:
    return result["measurement"], result["scale"], str(result["settings"]), result["config_hash"], result["seed"]


def _what(measurement: str) -> str:
    """The first paragraph of the measurement's docstring."""
    words = (measurement_of(measurement).__doc__ or "").strip().split("\n\n")[0]
    return plain_text(sentence(words)) if words else "The function's code says what it does."


def _shown(value) -> str:
    return ", ".join(map(_shown, value)) if isinstance(value, list) else str(value)


def _device(device: Mapping) -> str:
    threads = device.get("threads")
    return f"{device['type']} {device['name']}" + (f", {threads} thread{'s' * (threads > 1)}" if threads else "")


def _ranges(seeds: Sequence[int]) -> str:
    """0, 1, 2, 5 → "0 to 2, 5"."""
    seeds, spans = sorted(seeds), []
    for seed in seeds:
        if spans and seed == spans[-1][1] + 1:
            spans[-1][1] = seed
        else:
            spans.append([seed, seed])
    return ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in spans)
