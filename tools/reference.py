"""Write the pages of the book that are made from docstrings: `make reference`.

A class's docstring has a first line, paragraphs, `.. math::` blocks, `Parameters` and a paragraph that begins with
`Source:`. The page shows them with the signature, so what a reader finds is what the code says.
"""

import inspect
import re
import sys

import course_lib.frameworks as frameworks
import notebook_io

MATH = ".. math::"
FRAMEWORKS = notebook_io.ROOT / "book" / "frameworks.md"
ORDER = (
    "BetaVAE",
    "AnnealedVAE",
    "FactorVAE",
    "BetaTCVAE",
    "DIPVAE",
    "AdaGVAE",
    "AdaMLVAE",
    "TripletVAE",
    "AdaTripletVAE",
)
HEAD = """<!-- Made from the docstrings by `make reference`: change those. -->
# Frameworks

A framework is a model together with the objective that trains it. All of them are called alike:

```python
from course_lib.data import XYSquares
from course_lib.frameworks import AdaTripletVAE
from course_lib.models import mlp_vae
from course_lib.training import fit

data = XYSquares(2, 2, squares=2, image_size=16)
framework = AdaTripletVAE(mlp_vae(data, 7))
history = fit(framework, data, steps=4000)
```

`history.to_frame()` then holds the terms named below, weighted, so that they add up to the objective. What is minimised
is written for one image; the batch is averaged. $q(z|x) = \\mathcal{N}(\\mu, \\operatorname{diag} \\sigma^2)$ is what
the encoder says about an image, and $q(z)$ is its average over the data.

{table}
"""


def sections(cls: type) -> dict[str, list[str]]:
    """The paragraphs of a class's docstring: "text" with the formulas, "parameters" line by line, and "source"."""
    found = {"text": [], "parameters": [], "source": []}
    for paragraph in re.split(r"\n\s*\n", inspect.getdoc(cls).strip()):
        if paragraph.startswith("Parameters\n"):
            found["parameters"] = paragraph.split("\n")[2:]
        elif paragraph.startswith("Source:") or found["source"]:
            found["source"].append(paragraph)
        else:
            found["text"].append(paragraph)
    return found


def parameters(lines: list[str]) -> dict[str, str]:
    """Name (or names) → meaning, from the numpy style `name : meaning` with indented continuations."""
    entries = {}
    for line in lines:
        if not line.startswith(" "):
            name, meaning = line.split(" : ", 1)
            entries[name] = meaning
        else:
            entries[name] += " " + line.strip()
    return entries


def formula(paragraph: str) -> str:
    body = paragraph.removeprefix(MATH).strip()
    return "$$\n" + "\n".join(line.strip() for line in body.splitlines()) + "\n$$"


def defaults(cls: type) -> dict[str, object]:
    """Parameter → default, or `inspect.Parameter.empty`."""
    return {name: parameter.default for name, parameter in inspect.signature(cls).parameters.items()}


def section(name: str) -> str:
    """One framework: its docstring as MyST, each parameter with its default."""
    cls = getattr(frameworks, name)
    found, values = sections(cls), defaults(cls)
    title, *text = found["text"]
    parts = [f"({name.lower()})=\n## {name}", title]
    parts += [formula(paragraph) if paragraph.startswith(MATH) else paragraph for paragraph in text]
    for names, meaning in parameters(found["parameters"]).items():
        shown = []
        for parameter in names.split(", "):
            given = values.get(parameter, inspect.Parameter.empty)
            shown.append(f"`{parameter}`" if given is inspect.Parameter.empty else f"`{parameter}={given!r}`")
        parts.append(f"{', '.join(shown)}\n: {meaning}")
    return "\n\n".join([*parts, *found["source"]])


def table() -> str:
    """What the frameworks want: views per draw, players, reduction, Adam's learning rate."""
    rows = ["| framework | images per draw | players | `reduction` | learning rate |", "|---|---|---|---|---|"]
    for name in ORDER:
        cls = getattr(frameworks, name)
        views = {"AdaGVAE": "a pair", "AdaMLVAE": "a pair", "TripletVAE": "a triplet", "AdaTripletVAE": "a triplet"}
        reduction = next(defaults(base)["reduction"] for base in cls.__mro__ if "reduction" in defaults(base))
        drawn = "one, and one for the discriminator" if len(cls.players) > 1 else views.get(name, "one")
        rows.append(
            f"| [{name}](#{name.lower()}) | {drawn} | {', '.join(cls.players)} | {reduction} | {cls.learning_rate:g} |"
        )
    return "\n".join(rows)


def page() -> str:
    return "\n\n".join([HEAD.replace("{table}", table()).strip(), *(section(name) for name in ORDER)]) + "\n"


def main() -> int:
    FRAMEWORKS.write_text(page(), encoding="utf-8")
    print(FRAMEWORKS.relative_to(notebook_io.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
