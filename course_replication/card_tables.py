"""What a verdict compared, as tables: printed numbers beside ours, orders, and answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from math import floor, log10
from statistics import fmean, stdev

from course_replication.claims import constant
from course_replication.comparisons import Compared, Ordered, named, step_named
from course_replication.verdicts import Verdict

NONE = "–"  # in a cell that has nothing to say
ENOUGH = 6  # decimals; what is printed with fewer is shown with one more


@dataclass(frozen=True)
class Table:
    """Cells of text: `header` and each of `rows` have the same number; the first of a row names it."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        """In columns; the first is flush left, the others flush right."""
        widths = [max(map(len, column)) for column in zip(self.header, *self.rows, strict=True)]
        lines = []
        for row in (self.header, *self.rows):
            cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
            lines.append("  ".join([row[0].ljust(widths[0]), *cells[1:]]))
        return "\n".join([self.caption, *(line.rstrip() for line in lines)])

    def html(self) -> str:
        """With a caption and the scopes of headings, in a box that scrolls where it is too wide."""
        head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in self.header)
        body = "\n".join(
            f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>'
            for first, *cells in self.rows
        )
        return (
            f'<div class="claim-numbers" style="overflow-x: auto"><table><caption>{escape(self.caption)}</caption>\n'
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
        )

    def markdown(self) -> str:
        lines = [f"| {' | '.join(row)} |" for row in (self.header, *self.rows)]
        lines.insert(1, f"|{'---|' * len(self.header)}")
        return f"*{self.caption}*\n\n" + "\n".join(lines)


def tables_of(verdict: Verdict) -> list[Table]:
    """The numbers, orders and answers that the verdict rests on, and what is printed beside an order; of a claim that
    is not run, what the paper prints."""
    trained = verdict.claim.kind == "trained"
    found = []
    if verdict.numbers:
        tolerances = {number.what: number.tolerance for number in verdict.claim.numbers}
        found.append(_numbers(verdict.numbers, trained, tolerances))
    elif verdict.claim.expects.match == "value":
        rows = tuple((named(each.what), with_unit(each.value, each.unit)) for each in verdict.claim.numbers)
        found.append(Table("What the paper prints", ("what", "paper"), rows))
    if verdict.orders:
        bar = "our bar" if verdict.claim.expects.threshold == "ours" else NONE
        found.append(_orders(verdict.orders, trained, bar))
    if verdict.beside:
        found.append(_beside(verdict))
    if verdict.holds:
        rows = tuple((named(name).replace("-", " "), "yes" if holds else "no") for name, holds in verdict.holds)
        found.append(Table("Does it hold here?", ("what", "holds"), rows))
    return found


def _numbers(numbers: Sequence[Compared], trained: bool, tolerances: Mapping[str, float]) -> Table:
    rows = []
    for each in numbers:
        decimals = len(each.printed.partition(".")[2])
        decimals += decimals < ENOUGH
        row = [named(each.what), with_unit(each.printed, each.unit), with_spread(each.values, decimals)]
        if trained:
            expected = f"{plain(each.low, decimals)} to {plain(each.high, decimals)}"
            control = NONE if each.control is None else plain(each.control, decimals)
            row += [str(len(each.values)), expected, control]
        else:
            row.append(tolerance_text(tolerances[each.what]))
        rows.append((*row, "yes" if each.agrees else "close" if each.near else "no"))
    if trained:
        header = ("ours, mean ± sd", "n", "95 % prediction interval", "control")
    else:
        header = ("ours", "may differ by")
    return Table("The paper's numbers beside ours", ("what", "paper", *header, "agrees"), tuple(rows))


def _beside(verdict: Verdict) -> Table:
    """What the paper prints beside its order; no verdict rests on it."""
    printed, rows = {number.what: number for number in verdict.claim.numbers}, []
    for name, values in verdict.beside:
        number = printed[name]
        rows.append((named(name), with_unit(number.value, number.unit), with_spread(values)))
    caption = "Printed beside ours, not compared" + (": ours are small" if verdict.scale == "small" else "")
    return Table(caption, ("what", "paper", "ours, mean ± sd"), tuple(rows))


def _orders(orders: Sequence[Ordered], trained: bool, bar: str) -> Table:
    """`bar` stands in place of values on the side of a constant: a reader must know which ones we set."""
    rows, tested = [], trained or any(each.p is not None for each in orders)
    for each in orders:
        row = [step_named(each.first, each.second)]
        for name, values, control in zip((each.first, each.second), each.values, each.controls, strict=True):
            row.append(with_spread(values) if constant(name) is None else bar)
            row += [NONE if control is None else plain(control)] if trained else []
        row += [str(min(map(len, _sampled(each)))), NONE if each.p is None else p_text(each.p)] if tested else []
        rows.append((*row, _answer(each)))
    sides = ("left of >, mean ± sd", "right of >, mean ± sd")
    if trained:
        header = ("expected", sides[0], "nearest control", sides[1], "nearest control", "n", "one-sided p", "shown")
    elif tested:
        header = ("expected", *sides, "n", "one-sided p", "shown")
    else:
        header = ("expected", "left of >", "right of >", "holds")
    return Table("What the claim expects, and what came out", header, tuple(rows))


def _answer(step: Ordered) -> str:
    """What a test has not shown is not false: only the reverse speaks against a step, or a difference too small."""
    if step.holds or step.p is None:
        return "yes" if step.holds else "no"
    return "the reverse" if step.reversed else "too small" if step.below else "no"


def _sampled(step: Ordered) -> list[tuple[float, ...]]:
    """The values of those of the two that are not constants."""
    both = zip((step.first, step.second), step.values, strict=True)
    return [values for name, values in both if constant(name) is None]


def tolerance_text(tolerance: float) -> str:
    return f"{Decimal(repr(tolerance)):f}" if tolerance >= 1e-6 else f"{tolerance:.1g}"


def p_text(p: float) -> str:
    return f"{p:.2g}" if p >= 0.001 else "< 0.001"


def plain(value: float, decimals: int | None = None) -> str:
    """A number with so many decimals, or with four digits; a whole one has no decimals where one was asked for."""
    if float(value).is_integer() and decimals in (None, 0, 1):
        return str(int(value))
    return f"{value:.4g}" if decimals is None else f"{value:.{decimals}f}"


def with_spread(values: Sequence[float], decimals: int | None = None) -> str:
    """The mean, and with several values ± their standard deviation: without `decimals`, to two of its digits."""
    mean, spread = fmean(values), stdev(values) if len(values) > 1 else 0.0
    if decimals is None and spread > 0:
        decimals = 1 - floor(log10(spread))
        if decimals > ENOUGH + 1:
            return f"{plain(mean, ENOUGH)} ± < {10.0**-ENOUGH:.0e}"
        decimals = min(max(decimals, 0), ENOUGH)
    return plain(mean, decimals) + (f" ± {plain(spread, decimals)}" if len(values) > 1 else "")


def with_unit(value: str, unit: str | None) -> str:
    return value if unit is None else f"{value} {unit}"
