"""What the system says that this process holds."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def resident_bytes() -> int:
    """Return the bytes of this process that are in memory.

    Linux says what is there now. Memory is there when it has been written to: an array of zeros
    that nobody wrote to is not. What was freed goes back to the system first, where the C library
    knows how; elsewhere it may stay for a while. Libraries count too, so that a difference of two
    readings tells the size of arrays from some ten megabytes on.

    Other systems with Python's `resource`, macOS among them, say what was there at most so far: a
    difference then shows growth beyond an earlier peak alone.

    Raises:
        OSError: the system says neither, as Windows.

    >>> resident_bytes() > 2**20
    True
    """
    _give_back()
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return _most_so_far()
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def peak_resident_bytes(call: Callable[[], object]) -> int:
    """Return by how many bytes a call raises the resident size at its peak.

    What the call returns counts, and so does what operations take for themselves and give back,
    which `LiveBytes` does not see.

    Args:
        call: what is measured.

    Raises:
        OSError: the system is not Linux, or does not let a process forget its peak.
    """
    process = Path("/proc/self")
    before = resident_bytes()
    # The peak begins anew.
    (process / "clear_refs").write_text("5", encoding="ascii")
    result = call()
    status = (process / "status").read_text("utf-8")
    peak = re.search(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE)
    del result
    if peak is None:
        raise OSError(
            "/proc/self/status: got no VmHWM, wanted the peak of the resident size"
        )
    return int(peak[1]) * 1024 - before


def _give_back() -> None:
    """Return to the system what was freed; else it would serve the next arrays, and hide them."""
    with suppress(AttributeError, OSError, TypeError):  # glibc's own
        ctypes.CDLL(None).malloc_trim(0)


def _most_so_far() -> int:
    try:
        import resource
    except ImportError as error:
        raise OSError(
            f"resident size: got {sys.platform}, wanted /proc or resource"
        ) from error
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Kilobytes but on macOS.
    return most if sys.platform == "darwin" else most * 1024
