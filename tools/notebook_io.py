"""Where the notebooks are, and how they are read and written: in one form, so that a tool changes only what it must."""

from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("course_lib", "course_grading", "course_replication")  # in one wheel


def chapters(root: Path = ROOT) -> list[Path]:
    """The chapters in reading order: their file names start with their number."""
    return sorted((root / "chapters").glob("*.ipynb"))


def executed(root: Path = ROOT) -> list[Path]:
    """The notebooks whose outputs are stored: the chapters, then the pages of book/ that are notebooks."""
    return chapters(root) + sorted((root / "book").glob("*.ipynb"))


def notebooks(root: Path = ROOT) -> list[Path]:
    """Every notebook that a reader may open by itself: chapters, pages, exercises and their solutions."""
    exercises = (path for path in (root / "exercises").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
    return executed(root) + sorted(exercises)


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def write(path: Path, notebook: nbformat.NotebookNode) -> None:
    """Replace the notebook in one step: an interruption leaves the old one or the new one, never a half."""
    from course_lib.storage import replace_file  # here: it loads PyTorch, and most tools only read

    nbformat.validate(notebook)
    with replace_file(path) as file:
        file.write((nbformat.writes(notebook) + "\n").encode())


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]
