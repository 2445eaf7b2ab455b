"""What a call adds to the memory of a process, at its peak."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from companion.cost.timing import Call


ROOT = Path(__file__).parents[1]
MEGABYTE = 2**20


def extra_bytes(factory: str, setting: Mapping[str, object]) -> int:
    """Return the peak of a fresh process that makes a call, less that of one that does not.

    Both import the same, make the same arrays and warm up with a small call, so that neither
    libraries nor arguments are counted. What the call returns is.

    Args:
        factory: "module:function"; called with the setting it returns two calls, a small one and
            the one to be measured.
        setting: arguments of the factory, of what JSON can hold.

    Raises:
        MemoryError: a process failed; the message is the last line of what it said.
    """
    return _peak(factory, setting, call=True) - _peak(factory, setting, call=False)


def _peak(factory: str, setting: Mapping[str, object], *, call: bool) -> int:
    command = [sys.executable, "-m", "benchmarks.memory", factory, json.dumps(dict(setting))]
    done = subprocess.run(
        [*command, "call"] if call else command,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise MemoryError(said[-1] if said else f"ended with {done.returncode}")
    return int(done.stdout.split()[-1])


def _most_resident() -> int:
    """Return the largest resident size of this process so far, in bytes."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS counts in bytes
    # Not getrusage: on Linux a child begins with the peak of the process that started it.
    peak = re.search(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE)
    if peak is None:
        raise OSError("/proc/self/status: got no VmHWM, wanted the peak of the resident size")
    return int(peak[1]) * 1024


def _forget_peak() -> None:
    """Let the peak begin anew, where the system knows how.

    What importing took for a moment and gave back would else hide as much of what the call takes.
    """
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def main(factory: str, setting: str, *call: str) -> None:
    """Run one side in this process and print its peak."""
    module, _, name = factory.partition(":")
    calls: tuple[Call, Call] = getattr(import_module(module), name)(**json.loads(setting))
    warm_up, measured = calls
    warm_up()
    _forget_peak()
    if call:
        measured()
    print(_most_resident())


if __name__ == "__main__":
    main(*sys.argv[1:])
