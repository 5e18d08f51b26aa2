"""Write the repository's address and the edition where they are needed: _config.yml and every notebook's set-up cell.

    make publish URL=https://github.com/owner/name
    python tools/publish.py --check

Until then nothing names an address: launch buttons are absent, and outside a checkout the set-up cell says what to do.
"""

import argparse
import io
import re
import sys
import tomllib
from pathlib import Path

import yaml
from ruamel.yaml import YAML, YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

import notebook_io

COLAB = "https://colab.research.google.com"
ADDRESS = re.compile(r"https://github\.com/[A-Za-z0-9][A-Za-z0-9-]*/(?!\.{1,2}$)[A-Za-z0-9._-]+(?<!\.git)")
SETUP_TAG = "setup"


def setup_source(url: str, edition: str) -> str:
    """The set-up cell, the same in every notebook: for a checkout, for Colab and wherever course_lib is installed."""
    if url:
        # Nothing but the course: moving torch or numpy in Colab would force the reader to restart the session.
        missing = f"    %pip install --quiet --no-deps git+{url}@{edition}"
    else:
        missing = (
            '    raise ModuleNotFoundError("course_lib is not installed: '
            'open this notebook in a checkout of the course, or run `pip install .` there.")'
        )
    return "\n".join(
        [
            "import importlib.util, pathlib, sys",
            'sys.path[:0] = [".."] * pathlib.Path("../course_lib").is_dir()  # a checkout comes first',
            'if importlib.util.find_spec("course_lib") is None:',
            missing,
            "from course_lib import __version__ as edition; "
            f'assert edition == "{edition}", '
            f'f"This notebook is of edition {edition}, and here is course_lib {{edition}}: install it."',
        ]
    )


def setup_cell(notebook):
    """The notebook's first code cell, if it is tagged as the set-up cell; None otherwise."""
    first = next(iter(notebook_io.code_cells(notebook)), None)
    return first if first is not None and SETUP_TAG in first.metadata.get("tags", []) else None


def version(root: Path) -> str:
    """The edition that this tree is: course_lib's version."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def settings(url: str, edition: str) -> dict[tuple[str, str], str | bool]:
    """What _config.yml says once the course is published at `url`; an empty `url` is the unpublished state."""
    return {
        ("repository", "url"): url,
        ("repository", "branch"): edition,
        ("launch_buttons", "colab_url"): COLAB if url else "",
        ("html", "use_repository_button"): bool(url),
        ("html", "use_issues_button"): bool(url),
    }


def configure(text: str, values: dict[tuple[str, str], str | bool]) -> str:
    """Set values in the text of _config.yml and nothing else: comments and quotes stay."""
    reader = YAML()
    reader.preserve_quotes, reader.width = True, 1_000
    try:
        config = reader.load(text)
    except YAMLError as error:  # a key that comes twice, say
        raise ValueError(f"_config.yml: {error}") from error
    for (section, key), value in values.items():
        if key not in (config.get(section) or {}):
            raise ValueError(f"_config.yml: the section {section} needs one line for {key}.")
        config[section][key] = DoubleQuotedScalarString(value) if isinstance(value, str) else value
    written = io.StringIO()
    reader.dump(config, written)
    return written.getvalue()


def publish(url: str, root: Path = notebook_io.ROOT) -> list[Path]:
    """Write `url` and the edition into _config.yml and the set-up cells; return the files that changed."""
    if not ADDRESS.fullmatch(url):
        raise ValueError(
            f"URL: got {url!r}; allowed is the address of a GitHub repository, "
            "https://github.com/owner/name, with nothing after the name."
        )
    edition = version(root)
    config = root / "_config.yml"
    before = config.read_text(encoding="utf-8")
    after = configure(before, settings(url, edition))
    opened = {path: notebook_io.read(path) for path in notebook_io.notebooks(root)}
    # Looked for in all notebooks before the first is written: a tree published by halves is worse than none.
    for path, notebook in opened.items():
        if setup_cell(notebook) is None:
            raise ValueError(f"{path.relative_to(root)}: the first code cell needs the tag {SETUP_TAG!r}.")
    changed = []
    if after != before:
        config.write_text(after, encoding="utf-8")
        changed.append(config)
    for path, notebook in opened.items():
        cell = setup_cell(notebook)
        if cell.source != setup_source(url, edition):
            cell.source = setup_source(url, edition)
            notebook_io.write(path, notebook)
            changed.append(path)
    return changed


def differences(root: Path = notebook_io.ROOT) -> list[str]:
    """One sentence for each place that disagrees with the address in _config.yml or with the library's version."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    url, edition = config["repository"]["url"] or "", version(root)
    found = [
        f"_config.yml: {section}.{key} is {config[section][key]!r}, not {value!r}."
        for (section, key), value in settings(url, edition).items()
        if config[section][key] != value
    ]
    for path in notebook_io.notebooks(root):
        cell = setup_cell(notebook_io.read(path))
        if cell is None:
            found.append(f"{path.relative_to(root)}: the first code cell is not tagged {SETUP_TAG!r}.")
        elif cell.source != setup_source(url, edition):
            found.append(f"{path.relative_to(root)}: the set-up cell is not the one that _config.yml implies.")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", nargs="?", default="", help="address of the repository: https://github.com/owner/name")
    parser.add_argument("--check", action="store_true", help="change nothing; say what disagrees with _config.yml")
    arguments = parser.parse_args()
    if arguments.check:
        found = differences()
        print("\n".join(found) or "Every set-up cell is the one that _config.yml implies.")
        return 1 if found else 0
    try:
        changed = publish(arguments.url)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    edition = version(notebook_io.ROOT)
    print(f"{arguments.url}, edition {edition}: {len(changed)} files rewritten.")
    print("Outside a checkout the notebooks install the tag named like the edition. Commit, then make and push it:")
    print(f"  git tag {edition} && git push origin {edition}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
