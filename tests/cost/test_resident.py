"""The resident size against arrays of known size, in processes of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

from companion.cost import array_bytes, kv_cache_bytes, resident_bytes

PEAK = """
import torch
from companion.cost import peak_resident_bytes
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
print(min(peak_resident_bytes(call), 2 * peak_resident_bytes(less)))
"""

ROOT = Path(__file__).parents[2]
LEAST = 64 * 2**20

WEIGHTS = """
from torch import nn
layers = nn.Linear(11, 13)
before = resident_bytes()
layers = nn.Linear(4099, 5003, bias=False)
print(resident_bytes() - before)
"""
CACHE = """
import torch
from companion.cache import KVCache
token = torch.ones(2, 3, 257, 97)
before = resident_bytes()
cache = KVCache(2, 3, 80 * 257, 97)
for _ in range(80):
    cache.update(token, token)
print(resident_bytes() - before)
"""


def said(script: str) -> int:
    script = "from companion.cost import resident_bytes\n" + script
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="says the peak alone")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "expected"),
    [(WEIGHTS, array_bytes(4099, 5003)), (CACHE, kv_cache_bytes(2, 3, 80 * 257, 97))],
    ids=["weights", "cache"],
)
def test_the_resident_size_grows_as_predicted(script: str, expected: int) -> None:
    assert expected > LEAST
    assert said(script) == pytest.approx(expected, rel=0.05)


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="cannot forget an earlier peak"
)
@pytest.mark.slow
def test_the_peak_is_that_of_what_lives_together() -> None:
    assert said(PEAK) == pytest.approx(2 * array_bytes(4099, 5003), rel=0.05)


def test_systems_without_proc_say_the_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    now = resident_bytes()

    def missing(*_: object, **__: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", missing)
    assert resident_bytes() >= 0.9 * now  # the peak; a process may have been larger before
    monkeypatch.setitem(sys.modules, "resource", None)
    with pytest.raises(OSError, match=f"resident size: got {sys.platform}, wanted /proc"):
        resident_bytes()
