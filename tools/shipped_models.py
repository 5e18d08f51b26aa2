"""Train the models that come with the course: `python tools/shipped_models.py NAME …`, which resumes where it stopped.

A model of 64×64 pixels takes half an hour of one core. What it writes into course_replication/artefacts/models says
which commit, device and versions it comes from, and is refused from a changed tree.

A model whose recipe names a stored run was trained by `replicate`. Its weights are the checkpoint of that run, kept
while it was at work: `python tools/shipped_models.py NAME --weights FILE`. They are taken only if what the run noted of
its network (reconstruction, KL, latents in use, …) comes out of them again, to a millionth: other weights would not.
"""

import argparse
import math
from pathlib import Path

import torch

from course_lib import frameworks
from course_lib.data import GridDataset
from course_lib.frameworks import Framework
from course_lib.metrics import mig
from course_lib.storage import read_tensors, write_tensors
from course_lib.training import fit
from course_replication.measurements import training
from course_replication.measurements.trained_scores import sampled_model_scores
from course_replication.runs import commit, device_record, versions
from course_replication.shipped import MODELS, PROVENANCE, RUN, recipes, shipped_data
from course_replication.store import Store

UNFINISHED = Path(__file__).parents[1] / "_build" / "shipped"
NOT_OF_FRAMEWORKS = {*training.OF_DATA, *training.OF_FIT, "watch_every", "dci"}  # among a run's settings
IMAGES, FOR_MIG, TOLD = 2000, 2500, 500  # that scores rest on; MIG needs more where a factor has forty values


def train(name: str, weights: Path | None = None) -> None:
    """Train one model, or go on with it, or take the weights of the run that trained it, and store it."""
    recipe, data, code = recipes()[name], shipped_data(name), commit()
    if not code or code.endswith("+"):
        raise SystemExit("The tree has changes; commit them, so that the model can say which code it comes from.")
    if RUN in recipe:
        store(name, restore(recipe, data, weights), recipe, data, Store().results()[recipe[RUN]])
        return
    framework = untrained(recipe, data)
    UNFINISHED.mkdir(parents=True, exist_ok=True)
    fit_by_recipe(name, framework, data, recipe)
    if "then" in recipe:
        later = recipe | recipe["then"] | {"settings": recipe["settings"] | recipe["then"].get("settings", {})}
        weights, framework = framework.state_dict(), untrained(later, data)
        framework.load_state_dict(weights)
        fit_by_recipe(f"{name}-then", framework, data, later)
    made = {"commit": code, "device": device_record(torch.device("cpu")), "versions": versions()}
    store(name, framework, recipe, data, made)


def store(name: str, framework: Framework, recipe: dict, data: GridDataset, made: dict) -> None:
    """Store the trained framework in half precision, with its scores. `made`: by which commit, device and versions."""
    tensors = {key: halved(value) for key, value in framework.state_dict().items()}
    framework.load_state_dict(tensors)  # what is stored is what is scored
    provenance = {
        **{key: made[key] for key in ("commit", "device", "versions")},
        "scores": scores(framework.eval(), data, recipe),
        "untrained": scores(untrained(recipe, data).eval(), data, recipe),
    }  # fmt: skip
    MODELS.mkdir(exist_ok=True)
    write_tensors(MODELS / f"{name}.safetensors", tensors, {**framework.config, PROVENANCE: provenance})
    print(name, provenance["scores"])


def fit_by_recipe(name: str, framework: Framework, data: GridDataset, recipe: dict) -> None:
    """Train it as the recipe says, or go on with it."""
    chosen = {key: recipe[key] for key in ("steps", "batch_size", "learning_rate", "seed")}
    fit(framework, data, checkpoint=UNFINISHED / f"{name}.safetensors", checkpoint_every=500, device="cpu", **chosen)


def restore(recipe: dict, data: GridDataset, weights: Path | None) -> Framework:
    """The framework as the run of the recipe left it, from its last checkpoint, if what it noted comes out again.

    Raises SystemExit, naming what is missing or differs.
    """
    if weights is None:
        raise SystemExit(f"The weights are those of {recipe[RUN]}: name its last checkpoint with --weights.")
    framework, run = untrained(recipe, data), Store().results()[recipe[RUN]]
    tensors, config = read_tensors(weights)
    if config["steps"] != recipe["steps"]:
        raise SystemExit(f"{weights} holds {config['steps']} steps of {recipe['steps']}.")
    framework.load_state_dict({key: tensors[key] for key in framework.state_dict()})
    torch.set_num_threads(1)  # as in the run: sums depend on it
    found = sampled_model_scores(framework, training.encodings(framework, data), recipe["seed"])
    wrong = {key: (value, run["metrics"][key]) for key, value in found.items()}
    if wrong := {key: pair for key, pair in wrong.items() if not math.isclose(*pair, rel_tol=1e-6)}:
        raise SystemExit(f"{weights} is not what {recipe[RUN]} left: found and stored differ in {wrong}.")
    return framework


def halved(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.half() if tensor.is_floating_point() else tensor


def untrained(recipe: dict, data: GridDataset) -> Framework:
    if RUN in recipe:
        chosen = {key: recipe[key] for key in ("network", "latents", "framework")} | recipe["settings"]
        chosen = {key: value for key, value in chosen.items() if key not in NOT_OF_FRAMEWORKS}
        return training.framework_of(data, recipe["seed"], **chosen)
    model = training.NETWORKS[recipe["network"]](data, recipe["latents"], seed=recipe["seed"])
    return getattr(frameworks, recipe["framework"])(model, **recipe["settings"])


def scores(framework: Framework, data: GridDataset, recipe: dict) -> dict[str, float | list[float]]:
    """`left`, the share of the pixels' variance that reconstructions leave, and MIG, on images drawn with seed 0.

    If the recipe says what to tell apart, also `told`: see `told`, on the first 500 of these images.
    """
    index = torch.randint(len(data), (IMAGES,), generator=torch.Generator().manual_seed(0))
    images = data.images(index)
    decoded = torch.cat([framework.reconstruct(part) for part in images.split(250)])
    observed = images / 255
    left = (decoded - observed).square().mean() / (observed - observed.mean(0)).square().mean()
    found = {"left": round(float(left), 4), "mig": round(float(mig(framework.encode, data, num_samples=FOR_MIG)), 4)}
    if "tells" in recipe:
        found["told"] = told(decoded[:TOLD], data, index[:TOLD], recipe["tells"], recipe["turns"])
    return found


def told(decoded: torch.Tensor, data: GridDataset, index: torch.Tensor, tells: str, turns: str) -> list[float]:
    """For each value of the factor `tells`: the share of its images that come back as one of that value, clearly.

    Candidates are the images that differ from the original in the factors `tells` and `turns` only. The one nearest to
    the reconstruction must have the right value, and lie more than twice as far from every candidate of another value
    as from the reconstruction: a blur between two shapes is neither. Distances are Euclidean. `decoded` (N, C, H, W) in
    [0, 1] are the reconstructions of the images at `index` (N,).
    """
    what, turn = data.space.names.index(tells), data.space.names.index(turns)
    sizes, factors = data.space.sizes, data.space.factors(index)
    candidates = factors[:, None].repeat(1, sizes[what] * sizes[turn], 1)  # (N, candidates, F)
    candidates[..., [what, turn]] = torch.cartesian_prod(torch.arange(sizes[what]), torch.arange(sizes[turn]))
    value, right = candidates[0, :, what], []
    for others, image, truth in zip(data.space.index(candidates), decoded, factors[:, what], strict=True):
        drawn = data.images(others).flatten(1) / 255
        distance = (drawn - image.flatten()).norm(dim=1)
        nearest = distance.argmin()
        margin = (drawn[value != truth] - drawn[nearest]).norm(dim=1).min()
        right.append(value[nearest] == truth and distance[nearest] < margin / 2)
    right = torch.tensor(right, dtype=torch.float64)
    return [round(float(right[factors[:, what] == kind].mean()), 4) for kind in range(sizes[what])]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train the models that come with the course.")
    parser.add_argument("name", nargs="*", help="of shipped.yml; otherwise all that no run has trained")
    parser.add_argument("--weights", type=Path, metavar="FILE", help="the last checkpoint of the run that trained it")
    chosen = parser.parse_args()
    for wanted in chosen.name or [name for name, recipe in recipes().items() if RUN not in recipe]:
        train(wanted, chosen.weights)
