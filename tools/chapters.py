"""Execute chapters in a fresh kernel and store their outputs: `make chapters`, or one: `make chapters CHAPTER=02_vae`.

A stored notebook depends on its code only: no timings, no random cell ids, no versions of one computer. A chapter that
raises, warns or prints an absolute path is refused, and the file stays as it was.
"""

import argparse
import itertools
import os
import re
import sys
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, DeadKernelError

import notebook_io
import notebook_rules

SECONDS_PER_CELL = 600
RANDOM_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8}|[0-9a-f]{32}")
VOLATILE = ("execution", "ExecuteTime", "collapsed", "scrolled", "trusted", "colab", "id", "outputId")


def name_cells(notebook) -> None:
    """Give a cell without an id, or with a random one, a name after the heading above it; other ids stay."""
    random = [cell for cell in notebook.cells if RANDOM_ID.fullmatch(cell.get("id", "0" * 8))]
    taken = {cell.id for cell in notebook.cells if "id" in cell}
    heading = "start"
    for cell in notebook.cells:
        title = re.match(r"#+ +(.+)", cell.source) if cell.cell_type == "markdown" else None
        if title:
            heading = re.sub(r"[^a-z0-9]+", "-", title[1].lower()).strip("-")[:40] or heading
        if any(cell is other for other in random):
            names = (f"{heading}-{number}" for number in itertools.count(1))
            cell["id"] = next(name for name in names if name not in taken)
            taken.add(cell.id)


def drop_widgets(notebook) -> None:
    """Keep what an output shows where no kernel runs; a widget is a name in a kernel that is gone."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook_io.code_cells(notebook):
        for output in cell.outputs:
            if "text/html" in output.get("data", {}):
                output.data.pop(notebook_rules.WIDGET, None)


def tidy(notebook) -> None:
    """Drop what differs from one computer or one run to the next."""
    drop_widgets(notebook)
    notebook.nbformat_minor = max(notebook.nbformat_minor, 5)
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata["language_info"] = {"name": "python"}
    name_cells(notebook)
    for cell in notebook.cells:
        for key in VOLATILE:
            cell.metadata.pop(key, None)


def execute(notebook, folder: Path) -> list[str]:
    """Run every cell in a fresh kernel whose working directory is `folder`; return the faults."""
    reached = {}
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=SECONDS_PER_CELL,
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],  # or each start warns that its sockets are not encrypted
        resources={"metadata": {"path": str(folder)}},
        on_cell_start=lambda cell, cell_index: reached.update(cell=cell),
    )
    try:
        client.execute()
    except (CellControlSignal, DeadKernelError) as error:  # a cell that raised, took too long or killed the kernel
        name = getattr(error, "ename", type(error).__name__)
        message = getattr(error, "evalue", str(error))
        return [f"{notebook_rules.place_of(notebook, reached['cell'])}: {name}: {message}"]
    tidy(notebook)  # again: the kernel has written its version into the metadata
    notebook_rules.sign(notebook)
    return notebook_rules.output_faults(notebook)


def renew(path: Path) -> list[str]:
    """Execute one chapter and store it; on a fault store nothing and return one sentence for each."""
    notebook = notebook_io.read(path)
    tidy(notebook)
    faults = execute(notebook, path.parent)
    if not faults:
        notebook_io.write(path, notebook)
    return faults


def renew_cards(path: Path) -> bool:
    """Show the chapter's cards as they are by now, which takes stored results alone; whether one has changed."""
    notebook = notebook_io.read(path)
    if not notebook_rules.card_faults(notebook):
        return False
    for _, output, card in notebook_rules.cards(notebook):
        forms = {"text/html": card._repr_html_(), "text/markdown": card._repr_markdown_(), "text/plain": repr(card)}
        output.data.update({form: text for form, text in forms.items() if form in output.data})
    notebook_io.write(path, notebook)
    return True


def check(paths: list[Path]) -> list[str]:
    """What keeps stored notebooks out of the book: cells that were not executed as they stand, or not without fault."""
    rules = (notebook_rules.stored_faults, notebook_rules.output_faults, notebook_rules.card_faults)
    notebooks = {path: notebook_io.read(path) for path in paths}
    return [
        f"{path.stem}, {fault}" for path, notebook in notebooks.items() for rule in rules for fault in rule(notebook)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chapter", nargs="*", help="names such as 02_vae or datasets; without any, all in order")
    parser.add_argument(
        "--check", action="store_true", help="execute nothing; only say what is wrong with what is stored"
    )
    parser.add_argument("--cards", action="store_true", help="execute nothing; only renew the cards of claims")
    arguments = parser.parse_args()
    known = {path.stem: path for path in notebook_io.executed()}
    unknown = [name for name in arguments.chapter if name not in known]
    if unknown:
        print(f"CHAPTER: got {', '.join(unknown)}; there are {', '.join(known) or 'no chapters'}.", file=sys.stderr)
        return 1
    if arguments.check:
        faults = check([known[name] for name in arguments.chapter or known])
        print(*faults, sep="\n", end="\n" if faults else "", file=sys.stderr)
        return int(bool(faults))
    if arguments.cards:
        renewed = [name for name in arguments.chapter or known if renew_cards(known[name])]
        print(*renewed or ["Every card says what the stored results say."], sep="\n")
        return 0
    os.environ.update(TQDM_DISABLE="1", OMP_NUM_THREADS="1")  # inherited by the kernels
    failed = False
    for name in arguments.chapter or known:
        place = known[name].relative_to(notebook_io.ROOT)
        print(f"{place} …", flush=True)
        faults = renew(known[name])
        for fault in faults:
            print(f"{place}, {fault}", file=sys.stderr)
        failed |= bool(faults)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
