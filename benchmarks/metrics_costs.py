"""What the scores cost: processor time as n, D and F grow, and memory on a large grid. Stored in metrics_costs.json.

`python benchmarks/metrics.py --growth` and `--memory` measure one half of that file each, anew and whole, or of the
scores that are named alone, if processor and versions are those of the others; `make reference` shows it in the book.
Each half carries the dates, the processor and the versions that it was measured with.
"""

import json
import platform
import re
import subprocess
import sys
from datetime import date
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from time import process_time

import torch
from threadpoolctl import threadpool_limits

from course_lib import metrics
from course_lib.data import DSprites
from course_lib.data.grid import GridDataset
from course_lib.factors import FactorSpace

FILE = Path(__file__).with_suffix(".json")
SCORES = sorted(metrics.SCORES)
TREES = ("dci", "downstream_trees")
VALUES, LATENTS, FACTORS = 6, 8, 6  # of each factor; how many of each while another number grows
GROWTH = {"n": (0.5, 1, 2), "D": (4, 8, 16), "F": (4, 6, 8)}
LONG_ENOUGH = 0.5  # seconds: shorter measurements are repeated, and the smallest counts
MEMORY_LATENTS = 10
MEGABYTE = 1024  # kB, in which Linux counts


class Codes(GridDataset):
    """F factors of 6 values, whose images are the values: drawing and comparing them costs next to nothing."""

    mean, std, source, licence, citation = (0.0,), (1.0,), "made up", "none", "none"

    def __init__(self, factors):
        self.space = FactorSpace([f"f{place}" for place in range(factors)], [VALUES] * factors)
        self.shape, self.options = (1, 1, factors), {"factors": factors}

    def render(self, index):
        return self.space.factors(index).to(torch.uint8).view(len(index), 1, 1, -1)


def mixed_codes(factors, latents):
    """A table for `Codes`: every latent a random mixture of all factors, with some noise, in float32."""
    data, draws = Codes(factors), torch.Generator().manual_seed(0)
    codes = data.space.factors(torch.arange(len(data))).float() @ torch.randn(factors, latents, generator=draws)
    return metrics.Encodings.from_table(codes.add_(torch.randn(codes.shape, generator=draws), alpha=0.1), data)


def options_of(name, share):
    """The sample sizes of a score, times `share`: those of its signature, for trees a fifth of them, in one process."""
    defaults = {key: parameter.default for key, parameter in signature(getattr(metrics, name)).parameters.items()}
    share = share / 5 if name in TREES else share
    sizes = {key: round(share * defaults[key]) for key in ("num_samples", "num_test") if key in defaults}
    return sizes | ({"jobs": 1} if name in TREES else {})


def cpu_seconds(name, table, options):
    """Processor seconds of one call, the smallest of a few if it is quick."""
    seconds, spent = [], 0.0
    while not seconds or (spent < LONG_ENOUGH and len(seconds) < 20):
        start = process_time()
        getattr(metrics, name)(table, **options)
        seconds.append(process_time() - start)
        spent += seconds[-1]
    return float(f"{min(seconds):.4g}")


def growth(names=SCORES):
    """Processor seconds of each score while n, D or F grows and the others stay, in one thread."""
    torch.set_num_threads(1)
    sizes = {(FACTORS, LATENTS), *((FACTORS, d) for d in GROWTH["D"]), *((f, LATENTS) for f in GROWTH["F"])}
    tables = {size: mixed_codes(*size) for size in sizes}
    print(f"{'score':<28}{'n':>8}" + "".join(f"{f'{axis} × {part}':>9}" for axis in GROWTH for part in GROWTH[axis]))
    scores = {}
    with threadpool_limits(1):
        for name in names:
            usual = options_of(name, 1)
            runs = {"n": [], "D": [], "F": []}
            middle = cpu_seconds(name, tables[FACTORS, LATENTS], usual)
            for share in GROWTH["n"]:
                again = middle if share == 1 else cpu_seconds(name, tables[FACTORS, LATENTS], options_of(name, share))
                runs["n"].append((round(share * usual["num_samples"]), again))
            for axis, place in (("D", lambda d: (FACTORS, d)), ("F", lambda f: (f, LATENTS))):
                for size in GROWTH[axis]:
                    same = place(size) == (FACTORS, LATENTS)
                    runs[axis].append((size, middle if same else cpu_seconds(name, tables[place(size)], usual)))
            scores[name] = {"n": usual["num_samples"], "seconds": middle} | {"runs": runs}
            cells = "".join(f"{seconds:>9.3f}" for axis in runs for _, seconds in runs[axis])
            print(f"{name:<28}{usual['num_samples']:>8}{cells}", flush=True)
    setting = {"latents": LATENTS, "factors": FACTORS, "values": VALUES, "threads": 1}
    store("growth", setting | {"scores": scores})


def memory(names=SCORES):
    """The largest memory of each score beyond what the process had before, each in a process of its own."""
    print(f"{'score':<28}{'MB':>8}{'workers':>9}")
    scores = {}
    for name in names:
        command = [sys.executable, __file__, "--peak", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        scores[name] = json.loads(done.stdout.splitlines()[-1])
        print(f"{name:<28}{scores[name]['megabytes']:>8.0f}{scores[name]['workers']:>9.0f}", flush=True)
    data = DSprites()
    store("memory", {"data": "dSprites", "images": len(data), "latents": MEMORY_LATENTS, "scores": scores})


def peak(name):
    """Megabytes at the most, encoding and the table of latents included: of this process, and of those it started.

    Of this process beyond what the libraries take; of the others all that is not the pages of a file, such as code.
    """
    data = DSprites()
    weights = torch.randn(data.shape[1] * data.shape[2], MEMORY_LATENTS, generator=torch.Generator().manual_seed(0))
    before = kilobytes("self", "VmRSS")
    getattr(metrics, name)(lambda images: images.flatten(1).float() @ weights / 255, data)
    workers = Path(f"/proc/self/task/{threads()[0]}/children").read_text().split()
    held = [kilobytes(worker, "VmHWM") - kilobytes(worker, "RssFile", "RssShmem") for worker in workers]
    here = kilobytes("self", "VmHWM") - before
    return {"megabytes": round(here / MEGABYTE, 1), "workers": round(sum(held) / MEGABYTE, 1)}


def threads():
    """The threads of this process, the first one first: the one that starts other processes."""
    return sorted((path.name for path in Path("/proc/self/task").iterdir()), key=int)


def kilobytes(process, *entries):
    """The sum of some entries of Linux's account of a process' memory; VmHWM is the largest that it ever had."""
    status = Path(f"/proc/{process}/status").read_text()
    return sum(int(re.search(rf"^{entry}:\s+(\d+) kB", status, re.M)[1]) for entry in entries)


def store(part, measured):
    """Put one half of the file in the place of the old one, or the scores of a part of it in theirs."""
    cpu = re.search(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.M)
    libraries = {name: version(name) for name in ("numpy", "scikit-learn", "scipy", "torch")}
    source = {"date": date.today().isoformat(), "processor": cpu[1] if cpu else platform.machine()}
    source["versions"] = {"python": platform.python_version()} | libraries
    stored = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    before = stored.get(part, {})
    if measured["scores"].keys() < before.get("scores", {}).keys() | measured["scores"].keys():
        if any(before[entry] != source[entry] for entry in ("processor", "versions")):
            sys.exit("The other scores were measured with another processor or other versions: measure all.")
        measured["scores"] = before["scores"] | measured["scores"]
        source["date"] = " and ".join(sorted({*before["date"].split(" and "), source["date"]}))
    stored[part] = source | measured
    text = json.dumps(stored, indent=1, sort_keys=True)
    FILE.write_text(re.sub(r"\[\s+([\d.e-]+),\s+([\d.e-]+)\s+\]", r"[\1, \2]", text) + "\n", encoding="utf-8")
    print(f"stored in {FILE.name}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case "--peak", score:
            print(json.dumps(peak(score)))
        case _:
            print(__doc__)
