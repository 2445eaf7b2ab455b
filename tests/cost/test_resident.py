"""The resident size against arrays of known size, in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from companion.cost import array_bytes, resident_bytes

SCRIPT = """
import torch
from companion.cost import peak_resident_bytes, resident_bytes
def call():
    first = torch.ones(4099, 5003)
    second = first + 1
    del first
    return second + 1
def less():
    return torch.ones(4099, 5003)
held = [torch.ones(2**18) for _ in range(400)]  # below what is mapped alone: 400 MB of heap
last = torch.ones(2**18)
del held
print(peak_resident_bytes(call), peak_resident_bytes(less))
before = resident_bytes()
held = less()
print(resident_bytes() - before)
"""


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="cannot forget an earlier peak"
)
@pytest.mark.slow
def test_sizes_and_peaks_are_those_of_what_lives_together() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    one = array_bytes(4099, 5003)
    assert list(map(int, done.stdout.split())) == pytest.approx([2 * one, one, one], rel=0.05)


def test_systems_without_proc_say_the_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    now = resident_bytes()

    def missing(*_: object, **__: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", missing)
    assert resident_bytes() >= 0.9 * now  # the peak; a process may have been larger before
    monkeypatch.setitem(sys.modules, "resource", None)
    with pytest.raises(OSError, match=f"resident size: got {sys.platform}, wanted /proc"):
        resident_bytes()
