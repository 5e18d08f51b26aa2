"""Run a notebook under nbval as a reader has it: in an empty folder, with the wheel ahead of any checkout."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat

# As `python -m pytest`, but for what jsonschema would import to check internationalised addresses, of which a notebook
# has none: at each start it builds a grammar of them, which takes longer than starting the kernel.
PYTEST = "import sys; sys.modules['rfc3987_syntax'] = None; import pytest; sys.exit(pytest.main())"


def run(
    notebook, folder: Path, installed: Path, seconds_per_cell: int, **environment: str
) -> subprocess.CompletedProcess:
    """Run all cells in a fresh kernel with one thread, up to the first that raises.

    installed : the folder that the wheel was unpacked into. environment : more variables for the kernel.
    """
    nbformat.write(notebook, folder / "notebook.ipynb")
    (folder / "pytest.ini").write_text("[pytest]\n")  # or the course's own settings would be found, or those above
    command = [sys.executable, "-c", PYTEST, "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-c", "pytest.ini"]
    command += ["--nbval-lax", "--nbval-current-env", f"--nbval-cell-timeout={seconds_per_cell}", "notebook.ipynb"]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    given = {"PYTHONPATH": str(installed), "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
    return subprocess.run(command, cwd=folder, env=inherited | given | environment, capture_output=True, text=True)
