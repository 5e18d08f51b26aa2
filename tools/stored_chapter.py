"""A chapter as it is stored, for the tests that hold its text against its outputs."""

import re
from collections.abc import Iterable

from bs4 import BeautifulSoup

import notebook_io
from course_replication import Claim, Store, badge_of, best_verdict


def numbers(text: str) -> list[float]:
    """All numbers of a text, "−" and "1,000" understood; digits in names such as x2 are none."""
    found = re.findall(r"(?<![\w.])[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w.])", text)
    return [float(number.replace("−", "-").replace(",", "")) for number in found]


class StoredChapter:
    """`notebook`, its `cells` by their ids, and `text`, all that its Markdown says."""

    def __init__(self, name: str):
        self.notebook = notebook_io.read(notebook_io.ROOT / "chapters" / f"{name}.ipynb")
        self.cells = {cell.id: cell for cell in self.notebook.cells}
        self.text = "\n".join(cell.source for cell in self.notebook.cells if cell.cell_type == "markdown")

    def output(self, name: str) -> str:
        """All text that the cell shows."""
        outputs = self.cells[name].outputs
        return "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs)

    def html(self, name: str) -> BeautifulSoup:
        """The one piece of HTML that the cell shows."""
        (shown,) = (each.data["text/html"] for each in self.cells[name].outputs if "text/html" in each.get("data", {}))
        return BeautifulSoup(shown, "html.parser")

    def table(self, name: str) -> dict[tuple[str, ...] | str, list[str]]:
        """The rows of the frame that the cell shows, by their label, or by all of them where there are several."""
        found, group = {}, ()
        for row in self.html(name).select("tbody tr"):
            labels = [head.get_text() for head in row.select("th")]
            group = (*group[: len(group) - len(labels)], *labels)  # a label that spans several rows stands in the first
            found[group if len(group) > 1 else group[0]] = [cell.get_text() for cell in row.select("td")]
        return found

    def verdicts(self, claims: Iterable[Claim]) -> list[str]:
        """The lines of the cell `verdicts`: the verdict of the store and a claim's title, for each of the claims.

        Fails where one says anything but that.
        """
        (_, _, *lines), results = self.output("verdicts").splitlines(), Store().results()  # less caption and header
        for claim, line in zip(claims, lines, strict=True):
            assert line.startswith(badge_of(best_verdict(claim, results))) and line.endswith(claim.title), line
        return lines

    def says(self, *sentences: str) -> None:
        """Fail unless the text has each of the sentences."""
        for sentence in sentences:
            assert sentence in self.text, f"the chapter no longer says {sentence!r}: change this test with it"
