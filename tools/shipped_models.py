"""Train the models that come with the course: `python tools/shipped_models.py NAME …`, which resumes where it stopped.

A model of 64×64 pixels takes half an hour of one core. What it writes into course_replication/artefacts/models says
which commit, device and versions it comes from, and is refused from a changed tree.
"""

import sys
from pathlib import Path

import torch

from course_lib import frameworks
from course_lib.data import GridDataset
from course_lib.frameworks import Framework
from course_lib.metrics import mig
from course_lib.models import conv_vae, mlp_vae
from course_lib.storage import write_tensors
from course_lib.training import fit
from course_replication.runs import commit, device_record, versions
from course_replication.shipped import MODELS, PROVENANCE, recipes, shipped_data

NETWORKS = {"conv": conv_vae, "mlp": mlp_vae}
UNFINISHED = Path(__file__).parents[1] / "_build" / "shipped"
IMAGES, FOR_MIG, TOLD = 2000, 2500, 500  # that scores rest on; MIG needs more where a factor has forty values


def train(name: str) -> None:
    """Train one model, or go on with it, and store it."""
    recipe, data, code = recipes()[name], shipped_data(name), commit()
    if not code or code.endswith("+"):
        raise SystemExit("The tree has changes; commit them, so that the model can say which code it comes from.")
    framework = untrained(recipe, data)
    UNFINISHED.mkdir(parents=True, exist_ok=True)
    fitted(name, framework, data, recipe)
    if "then" in recipe:
        later = recipe | recipe["then"] | {"settings": recipe["settings"] | recipe["then"].get("settings", {})}
        weights, framework = framework.state_dict(), untrained(later, data)
        framework.load_state_dict(weights)
        fitted(f"{name}-then", framework, data, later)
    tensors = {key: halved(value) for key, value in framework.state_dict().items()}
    framework.load_state_dict(tensors)  # what is stored is what is scored
    provenance = {
        "commit": code, "device": device_record(torch.device("cpu")), "versions": versions(),
        "scores": scores(framework.eval(), data, recipe),
        "untrained": scores(untrained(recipe, data).eval(), data, recipe),
    }  # fmt: skip
    MODELS.mkdir(exist_ok=True)
    write_tensors(MODELS / f"{name}.safetensors", tensors, {**framework.config, PROVENANCE: provenance})
    print(name, provenance["scores"])


def fitted(name: str, framework: Framework, data: GridDataset, recipe: dict) -> None:
    """Train it as the recipe says, or go on with it."""
    chosen = {key: recipe[key] for key in ("steps", "batch_size", "learning_rate", "seed")}
    fit(framework, data, checkpoint=UNFINISHED / f"{name}.safetensors", checkpoint_every=500, device="cpu", **chosen)


def halved(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.half() if tensor.is_floating_point() else tensor


def untrained(recipe: dict, data: GridDataset) -> Framework:
    model = NETWORKS[recipe["network"]](data, recipe["latents"], seed=recipe["seed"])
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
    for wanted in sys.argv[1:] or recipes():
        train(wanted)
