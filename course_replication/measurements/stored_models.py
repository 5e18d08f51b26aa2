"""The trained models that the course comes with: each in one safetensors file, with the run that it came from."""

from pathlib import Path

from course_lib.frameworks import Framework, load_framework
from course_lib.storage import read_tensors, write_tensors
from course_replication.measurements.full_size import DATA, DrawnOn, dataset, scored, trained
from course_replication.runs import Context, chosen_device
from course_replication.store import RESULTS

KEPT = ("id", "settings", "seed", "device", "versions", "commit")  # of a result


def model_path(name: str) -> Path:
    return RESULTS.with_name(f"model-{name}.safetensors")


def store_model(path: str | Path, result: dict, scratch: Path, device: str = "auto") -> None:
    """Train the model of a run again and write it with its weights in half precision: 1.6 MB with Table A.1's network.

    result : of a run of `full_size.training`, as the store has it. scratch : a folder for the checkpoint, from which an
        interrupted call goes on. device : as of `replicate`.

    The scores beside the weights are measured afresh, of the rounded weights: on a GPU two trainings never agree in
    their last digits. `model_path` says where the course keeps such a file.
    """
    settings, seed, chosen = result["settings"], result["seed"], chosen_device(device)
    framework, _ = trained(Context(seed, chosen, scratch), scratch / "model.safetensors", settings)
    weights = {name for name, _ in framework.named_parameters()}
    tensors = {name: each.half() if name in weights else each for name, each in framework.state_dict().items()}
    framework.load_state_dict(tensors)  # the weights as they are when read back
    data = DrawnOn(dataset(**{name: settings[name] for name in DATA if name in settings}), chosen)
    _, scores = scored(framework, data, seed, settings["dci"])
    kept = {name: result[name] for name in KEPT} | {"scores": scores}
    write_tensors(path, tensors, framework.config | {"run": kept})


def load_model(name: str) -> tuple[Framework, dict]:
    """The stored model of that name, on the CPU, and its run: id, settings, seed, what it ran with, and its scores.

    Raises FileNotFoundError for a name of which there is none.
    """
    return load_framework(model_path(name)), read_tensors(model_path(name))[1]["run"]
