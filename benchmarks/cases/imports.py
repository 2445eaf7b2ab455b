"""What it costs to import the package, and that NumPy users never load torch."""

import subprocess
import sys
from collections.abc import Iterator
from operator import sub

from benchmarks.cases import Case
from benchmarks.contest import Result
from benchmarks.machine import ROOT
from benchmarks.records import Goal, Reading, Row, row_of
from benchmarks.timing import Protocol, spread

GOAL, TORCH_GOAL = Goal(30.0, side="at most"), Goal(0.0, side="at most")
NUMPY = "import numpy as np; x = np.ones((5, 3))"
PACKAGE = f"{NUMPY}; import companion"
FIRST_CALL = "companion, first call"
SCRIPTS = {
    "numpy": NUMPY,
    "companion": PACKAGE,
    FIRST_CALL: f"{PACKAGE}; companion.scaled_dot_product_attention(x, x, x, is_causal=True)",
    "torch": f"{NUMPY}; import torch",
}
SUFFIX = "; import sys, time; print(time.process_time(), 'torch' in sys.modules)"


def run(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Start fresh processes alternately, and compare each with the one that imports NumPy."""
    scripts = {name: script for name, script in SCRIPTS.items() if not (quick and name == "torch")}
    seconds: dict[str, list[float]] = {name: [] for name in scripts}
    loaded = set()
    for _ in range(protocol.most):
        for name, script in scripts.items():
            command = [sys.executable, "-c", script + SUFFIX]
            done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
            took, with_torch = done.stdout.split()
            seconds[name].append(float(took))
            loaded |= {name} if with_torch == "True" else set()
    for name, values in seconds.items():
        yield Reading.of("import", name, values)
    for name in list(scripts)[1:]:
        more = [1000 * extra for extra in map(sub, seconds[name], seconds["numpy"])]
        setting, goal = "import, on top of NumPy", GOAL if name == "companion" else None
        yield row_of(spread(more), setting=setting, ours=name, unit="ms", goal=goal)
    setting, times = "torch loaded by the first call on NumPy arrays", float(FIRST_CALL in loaded)
    yield Row(setting=setting, ours="companion", unit="times", value=times, goal=TORCH_GOAL)


CASES = {"imports": Case("Import", {"unit": "ms of CPU time of a whole fresh process"}, run)}
