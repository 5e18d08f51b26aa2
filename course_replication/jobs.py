"""A run as text that can travel, and the answer to it: what a worker is given and gives back, wherever it is."""

import json
import warnings
from dataclasses import asdict

from course_lib.data import DataFileError
from course_replication.runs import Run, check_committed, execute, known_to, lacks_gpu
from course_replication.store import Store


def job_of(run: Run, store: Store, device: str = "auto", *, dirty: bool = False) -> str:
    """The run, the store that it may read and the device asked for, as JSON. dirty : as in `check_committed`."""
    return json.dumps({"run": asdict(run), "store": str(store.path), "device": device, "dirty": dirty})


def wants_gpu(job: str) -> bool:
    """Whether the job's run is a training, and nobody has said that it shall be on the CPU."""
    asked = json.loads(job)
    return asked["run"]["device"] == "auto" and asked["device"] != "cpu"


def answer(job: str, *, raised: tuple[type[Exception], ...] = ()) -> str:
    """Execute the job's run, and return JSON: an object with one key.

    "result" : as `runs.execute` returns it. "error" : what went wrong; whatever a measurement raises is one, but for
    exceptions of the types `raised`. "unavailable" : the data file that is missing. "withheld" : that it needs a GPU.

    Results are read from the store, and none is written to it: that is left to the process that asks. The folder for
    checkpoints lies beside the store.
    """
    asked = json.loads(job)
    run, store = Run(**asked["run"]), Store(asked["store"])
    if lacks_gpu(run, asked["device"]):
        return json.dumps({"withheld": True})
    try:
        check_committed(store, asked["dirty"])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="store: line")  # whoever asks has said that it is cut off
            known = known_to(run, store)
        return json.dumps({"result": execute(run, asked["device"], store.scratch(run.id), known)})
    except raised:
        raise
    except Exception as error:  # whatever a measurement raises is a line of the report, not the end
        return json.dumps({"unavailable" if _is_missing_file(error) else "error": f"{type(error).__name__}: {error}"})


def lost(why: str) -> str:
    """The answer in place of a worker that gave none."""
    again = "the same command runs it again, from its last checkpoint if it has left one"
    return json.dumps({"error": f"its worker was lost ({why}); {again}"})


def _is_missing_file(error: Exception) -> bool:
    """Whether a data file is not there: that has a cause in the network or the system, a damaged file has none."""
    return isinstance(error, DataFileError) and error.__cause__ is not None
