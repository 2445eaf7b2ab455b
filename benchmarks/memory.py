"""What a call adds to the memory of a process, at its peak."""

import json
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module

from benchmarks.machine import ROOT
from companion.cost.resident import peak_resident_bytes
from companion.cost.timing import Call

MEGABYTE = 2**20


def extra_bytes(factory: str, setting: Mapping[str, object]) -> int:
    """Return by how much a call raises the memory of a fresh process, at its peak.

    The factory, as "module:function", gets the setting, which JSON must hold, and returns two
    calls. The first is small, so that neither libraries nor arguments are counted; what the second
    returns is.

    Raises:
        MemoryError: the process failed; the message is the last line of what it said.
    """
    command = [sys.executable, "-m", "benchmarks.memory", factory, json.dumps(dict(setting))]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise MemoryError(said[-1] if said else f"ended with {done.returncode}")
    return int(done.stdout.split()[-1])


def main(factory: str, setting: str) -> None:
    """Make the calls in this process and print by how many bytes the second one raised its peak."""
    module, _, name = factory.partition(":")
    calls: tuple[Call, Call] = getattr(import_module(module), name)(**json.loads(setting))
    warm_up, measured = calls
    warm_up()
    print(peak_resident_bytes(measured))


if __name__ == "__main__":
    main(*sys.argv[1:])
