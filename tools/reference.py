"""Write the pages of the book that are made from something else, most of them from docstrings: `make reference`.

A class's docstring has a first line, paragraphs, `.. math::` blocks, `Parameters` and a paragraph that begins with
`Source:`. The page shows them with the signature, so what a reader finds is what the code says.
"""

import inspect
import re
import sys

import bibliography
import concept_test
import course_map
import idea_map
import notebook_io
import score_costs
import scorecard
import study_time
import teaching_plans
import timings
from course_lib import frameworks, metrics

MATH = ".. math::"
FRAMEWORKS = notebook_io.ROOT / "book" / "frameworks.md"
METRICS = notebook_io.ROOT / "book" / "metrics.md"
ORDER = (
    "BetaVAE",
    "AnnealedVAE",
    "FactorVAE",
    "BetaTCVAE",
    "DIPVAE",
    "AAE",
    "FactorVAEToPrior",
    "ISAVAE",
    "ISATCVAE",
    "QLAE",
    "InfoGAN",
    "InfoWGAN_GP",
    "AdaGVAE",
    "AdaMLVAE",
    "TripletVAE",
    "AdaTripletVAE",
)
DRAWN = {  # images that meet in each element of a batch, where it is not one
    "FactorVAE": "one, and one for the discriminator",
    "InfoGAN": "one for each turn of the discriminator",
    "InfoWGAN_GP": "one for each turn of the discriminator",
    "AdaGVAE": "a pair",
    "AdaMLVAE": "a pair",
    "TripletVAE": "a triplet",
    "AdaTripletVAE": "a triplet",
}
HEAD = """<!-- Made from the docstrings by `make reference`: change those. -->
# Frameworks

A framework is a model together with the objective that trains it. All of them are called alike:

```python
from course_lib.data import XYSquares
from course_lib.frameworks import AdaTripletVAE, load_framework
from course_lib.models import mlp_vae
from course_lib.training import fit

data = XYSquares(2, 2, squares=2, image_size=16)
framework = AdaTripletVAE(mlp_vae(data, 7))
history = fit(framework, data, steps=4000)
latents = framework.encode(data.images([0, 1]))  # (2, 7): the means
framework.save("model.safetensors")
framework = load_framework("model.safetensors")
```

`fit` calls each of its `callbacks` as `callback(framework, step)`, at the steps that it records (`log_every`, 50 by
default), and adds what they return to the history:

```python
def score(framework, step):
    return {"mig": float(metrics.mig(framework.encode, data))}
```

A GAN has other networks, `mlp_gan(data)` or `conv_gan(data)`, and no likelihood: it neither reconstructs nor has a
reduction, and what it cannot do it says. All else is the same.

`history.to_frame()` then holds the terms named below, weighted, so that they add up to the objective. What is minimised
is written for one image; the batch is averaged. $q(z|x) = \\mathcal{N}(\\mu, \\operatorname{diag} \\sigma^2)$ is what
the encoder says about an image, and $q(z)$ is its average over the data.

*Images per draw* says how many images meet in each element of a batch; *players* are the networks that train in
turn; *reduction* says whether a term adds over pixels and latents ("sum", as most papers do) or averages ("mean").
"The thesis" is Nathan Michlo's *Disentanglement using VAEs resembles distance learning and requires overlapping
data* (2022).

{table}
"""


# Family of scores → its members, each with its title
FAMILIES = {
    "Fix a factor, and see what moves": {
        "beta_vae_score": "BetaVAE score",
        "factor_vae_score": "FactorVAE score",
        "irs": "Interventional robustness (IRS)",
    },
    "How much each latent knows of each factor": {
        "mutual_information": "Mutual information",
        "mig": "Mutual information gap (MIG)",
        "modularity": "Modularity and explicitness",
        "infomec": "Modularity, compactness and explicitness in nats (InfoMEC)",
    },
    "How well latents predict factors": {
        "dci": "Disentanglement, completeness, informativeness (DCI)",
        "sap": "Separated attribute predictability (SAP)",
        "dci_es": "Explicitness and size (DCI-ES)",
        "downstream_logistic": "Downstream, logistic regression",
        "downstream_trees": "Downstream, boosted trees",
    },
    "Distances and directions": {
        "distance_correlation": "Ground-truth distance correlation",
        "linearity_ratio": "Linearity ratio",
        "axis_alignment_ratio": "Axis-alignment ratio",
        "axis_orientation_ratio": "Axis-orientation ratio",
    },
    "Statistics that need no factors": {
        "gaussian_total_correlation": "Gaussian total correlation",
        "wasserstein_correlation": "Wasserstein correlation",
    },
}
METRICS_HEAD = """<!-- Made from the docstrings by `make reference`: change those. -->
# The scores, defined

Every score is called alike, and gives the same value for the same `seed`:

```python
from course_lib import metrics

score = metrics.mig(framework.encode, data, seed=0)
print(f"{score:.3f}", score.values, score.settings)

table = metrics.Encodings(framework.encode, data)  # several scores, each image encoded once
metrics.evaluate(table).to_frame()
```

`encode` maps images, uint8 (B, C, H, W), to latents (B, D), and `evaluate` runs the eleven scores of the book's
tables unless `scores=["mig", "sap"]` names others; DCI takes most of its time, and [a table](#costs) says how
much each takes. $z$ are the latents, $D$ of them, and $v$ or $y$ the factors, $F$ of them. "The thesis" is Nathan
Michlo's *Disentanglement using VAEs resembles distance learning and requires overlapping data* (2022). Which
representations fool which score is shown in [what each score sees](scores.ipynb). Latents that lie in a
table, `metrics.evaluate.from_samples(latents, factors)` scores beside shuffled ones, and so does
[a page](score_your_own.md).
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
        found = [defaults(base).get("reduction", inspect.Parameter.empty) for base in cls.__mro__]
        reduction = next((default for default in found if default is not inspect.Parameter.empty), "none")
        rows.append(
            f"| [{name}](#{name.lower()}) | {DRAWN.get(name, 'one')} | {', '.join(cls.players)} | {reduction} | "
            f"{cls.learning_rate:g} |"
        )
    return "\n".join(rows)


def frameworks_page() -> str:
    return "\n\n".join([HEAD.replace("{table}", table()).strip(), *(section(name) for name in ORDER)]) + "\n"


def function_section(name: str, title: str) -> str:
    """One score: how it is called, and its docstring as MyST, lines `name : meaning` as a list of definitions."""
    function = getattr(metrics, name)
    parts = [f"({name})=\n### {title}", f"```python\n{name}{_signature(function)}\n```"]
    for paragraph in re.split(r"\n\s*\n", inspect.getdoc(function).strip()):
        lines = paragraph.split("\n")
        if paragraph.startswith(MATH):
            parts.append(formula(paragraph))
        elif all(line.startswith(" ") or re.match(r"[\w, ]+ : ", line) for line in lines):
            parts += [f"`{names}`\n: {meaning}" for names, meaning in parameters(lines).items()]
        else:
            parts.append(paragraph)
    return "\n\n".join(parts)


def _signature(function) -> str:
    """The parameters without their types, which the text names."""
    signature = inspect.signature(function)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def metrics_page() -> str:
    parts = [METRICS_HEAD.strip()]
    for family, scores in FAMILIES.items():
        parts += [f"## {family}", *(function_section(name, title) for name, title in scores.items())]
    parts.append(score_costs.section({name: title for scores in FAMILIES.values() for name, title in scores.items()}))
    return "\n\n".join(parts) + "\n"


PAGES = {
    FRAMEWORKS: frameworks_page,
    METRICS: metrics_page,
    bibliography.PAGE: bibliography.page,
    course_map.PAGE: course_map.page,
    idea_map.PAGE: idea_map.page,
    **concept_test.PAGES,
    teaching_plans.PAGE: teaching_plans.page,
    timings.PAGE: timings.page,
}


def main() -> int:
    study_time.main()  # before the map, which says the times
    for path, page in PAGES.items():
        path.write_text(page(), encoding="utf-8")
        print(path.relative_to(notebook_io.ROOT))
    return scorecard.main()


if __name__ == "__main__":
    sys.exit(main())
