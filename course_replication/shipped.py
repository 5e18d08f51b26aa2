"""Trained models that come with the course, in float16: pictures for chapters, no evidence for claims."""

from pathlib import Path
from typing import TYPE_CHECKING

from course_replication.store import Store
from course_replication.strict_yaml import load_strictly

if TYPE_CHECKING:  # PyTorch is imported where a model is asked for: a claim's card needs none
    from course_lib.data import GridDataset
    from course_lib.frameworks import Framework

HERE = Path(__file__).parent
MODELS = HERE / "artefacts" / "models"
PROVENANCE = "provenance"  # beside the configuration of the framework
RUN = "run"  # of a recipe: the id of the stored run that trained the model
OF_TRAINING = ("data", "network", "latents", "framework", "steps", "batch_size", "learning_rate")


def recipes() -> dict[str, dict]:
    """How each model is trained, by its name: the entries of shipped.yml, completed from the run if they name one."""
    return {name: _completed(entry) for name, entry in _entries().items()}


def shipped_model(name: str) -> "Framework":
    """The trained framework of that name, on the CPU, for `encode`, `decode` and `reconstruct`.

    Its weights were rounded to float16 when they were stored; they are computed with in float32. Raises ValueError
    naming the models that there are.

    Examples
    --------
    >>> shipped_model("shapes3d-entangled").encode(images)      # (B, 10)
    """
    from course_lib.frameworks import load_framework

    return load_framework(_file(name)).eval()


def shipped_model_card(name: str) -> dict:
    """Where the model comes from: its recipe, and under "provenance" the code, device and scores of its training."""
    from course_lib.storage import read_tensors

    _, config = read_tensors(_file(name))
    return {"name": name, **_recipe(name), PROVENANCE: config[PROVENANCE]}


def shipped_data(name: str) -> "GridDataset":
    """The dataset that the model was trained on, as the course draws it, or the subgrid of it that the recipe keeps."""
    import course_lib.data
    from course_replication.subgrid import Subgrid

    recipe = _recipe(name)
    data = getattr(course_lib.data, recipe["data"])()
    return Subgrid(data, recipe["keeps"]) if "keeps" in recipe else data


def _entries() -> dict[str, dict]:
    return load_strictly((HERE / "shipped.yml").read_text("utf-8"))


def _entry(name: str) -> dict:
    found = _entries()
    if name not in found:
        raise ValueError(f"name: got {name!r}; expected one of {', '.join(found)}.")
    return found[name]


def _recipe(name: str) -> dict:
    return _completed(_entry(name))


def _completed(entry: dict) -> dict:
    """The entry with what the run that it names, one of `training.scores`, says of the training."""
    if RUN not in entry:
        return entry
    run = Store().results()[entry[RUN]]
    named = {name: run["settings"][name] for name in OF_TRAINING}
    rest = {name: value for name, value in run["settings"].items() if name not in named}
    return entry | named | {"seed": run["seed"], "settings": rest}


def _file(name: str) -> Path:
    _entry(name)
    path = MODELS / f"{name}.safetensors"
    if not path.exists():
        raise ValueError(f"name: {name!r} has a recipe but no weights yet: python tools/shipped_models.py {name}")
    return path
