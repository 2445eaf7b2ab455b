"""What the system says that this process holds."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def resident_bytes() -> int:
    """Return the bytes of this process that are in memory.

    Linux says what is there now. Memory is there once it was written to: an array of zeros that
    nobody wrote to is not. What was freed may stay for a while, and libraries count too, so that a
    difference of two readings tells the size of arrays from some ten megabytes on.

    Other systems with Python's `resource`, macOS among them, say what was there at most so far: a
    difference then shows growth beyond an earlier peak alone.

    Raises:
        OSError: the system says neither, as Windows.

    >>> resident_bytes() > 2**20
    True
    """
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return _most_so_far()
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _most_so_far() -> int:
    try:
        import resource
    except ImportError as error:
        raise OSError(f"resident size: got {sys.platform}, wanted /proc or resource") from error
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024  # kilobytes but on macOS
