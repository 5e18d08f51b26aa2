"""A chapter as it is stored, for the tests that hold its text against its outputs."""

import notebook_io


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

    def says(self, *sentences: str) -> None:
        """Fail unless the text has each of the sentences."""
        for sentence in sentences:
            assert sentence in self.text, f"the chapter no longer says {sentence!r}: change this test with it"
