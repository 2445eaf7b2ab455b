"""Where a benchmark ran: processor, instructions, versions, and which code."""

import hashlib
import os
import platform
import re
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
PEERS = ("x-transformers", "local-attention")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""The environment of everything that is timed; libraries read it when they are loaded."""

_TELLING = re.compile(r"avx\w*|amx\w*|fma|sve\w*|bf16|i8mm|asimd\w*")
_CGROUP = Path("/sys/fs/cgroup")


def stamp(threads: int) -> dict[str, object]:
    """Return what a reader needs to know of the machine, and nothing that says whose it is.

    >>> stamp(1)["threads"]
    1
    """
    from experiments.engine.record import processor, versions  # brings SciPy, which takes a second

    return {
        "processor": processor(),
        "instructions": instructions(),
        "cores": os.cpu_count(),
        "threads": threads,
        "system": platform.system(),
        "versions": versions() | {name: version(name) for name in PEERS if installed(name)},
        "code": fingerprint("companion", "benchmarks"),
    }


def instructions() -> list[str]:
    """Return the processor's vector and matrix instructions, as the system names them."""
    text = _read(Path("/proc/cpuinfo"))
    flags = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", text, re.MULTILINE)
    return sorted(filter(_TELLING.fullmatch, flags[1].split())) if flags else []


def has_bfloat16() -> bool:
    """Say whether the processor multiplies in bfloat16."""
    return not {"avx512_bf16", "amx_bf16", "bf16", "svebf16"}.isdisjoint(instructions())


def available_bytes() -> int:
    """Return how much memory is free to take; a large number where nobody tells."""
    free = re.search(r"^MemAvailable:\s*(\d+) kB$", _read(Path("/proc/meminfo")), re.MULTILINE)
    limits = [int(free[1]) * 1024] if free else []
    most, used = (_read(_CGROUP / name).strip() for name in ("memory.max", "memory.current"))
    if most.isdecimal() and used.isdecimal():
        limits.append(int(most) - int(used))
    return min(limits, default=2**62)


def fingerprint(*packages: str) -> str:
    """Return a short digest of the sources of packages: other code, other digest."""
    digest = hashlib.sha256()
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def installed(distribution: str) -> bool:
    """Say whether a peer can be imported."""
    return find_spec(distribution.replace("-", "_")) is not None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
