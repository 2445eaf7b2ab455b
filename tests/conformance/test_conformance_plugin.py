"""`pytest --attention module:function`, as somebody else runs it: in a folder of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from companion.conformance.kit import KIT

ROOT = Path(__file__).parents[2]

MINE = """
from torch import nn
from tests.conformance.broken import attention

def unscaled(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False):
    return attention(3 * query, key, value, attn_mask, dropout_p, is_causal)

class Layer(nn.Module):
    def forward(self, query, key, value, attn_mask=None):
        return attention(query, key, value, attn_mask)

def three(query, key, value):
    return attention(query, key, value)

def other(query, key, value, seen=None):
    return attention(query, key, value, seen)

def refuses(query, key, value, mask=None):
    if query.shape != value.shape or query.shape[2] != 7 or mask is not None:
        raise ValueError("no")
    return attention(query, key, value)

class Wide:
    def __init__(self, width):
        pass

number = 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a module that has attention functions, and a test of its own."""
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n")
    return tmp_path


def run(folder: Path, *options: str, code: int = 0) -> str:
    """Run pytest in a folder; return what it prints."""
    environment = {key: value for key, value in os.environ.items() if "PYTEST" not in key}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "companion.conformance.plugin",
         "-p", "no:cacheprovider", *options],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert done.returncode == code, said
    return said


def test_a_finding_says_what_is_wrong_and_where_the_book_shows_it(folder: Path) -> None:
    said = run(folder, "--attention", "mine:unscaled", code=1)
    assert f"collected {len(KIT)} items" in said
    assert "the scale is 0.75, wanted 0.25, 1 / sqrt(16)" in said
    assert "'The wrong width': implementation/museum_evidence.html#the-wrong-width" in said
    assert "Traceback" not in said
    assert "\nskipped  definition      waits for `scale`, which may be why\n" in said
    assert "\nskipped  sinks           its signature has no `sinks`\n" in said
    assert "\npassed   causal          Does the future stay hidden?\n" in said
    assert "\nrefused  " not in said
    assert "1 failed, " in said.splitlines()[-1]


def test_checks_are_selected_as_tests_are_and_come_beside_those_of_a_path(folder: Path) -> None:
    said = run(folder, "--attention", "mine:three", "-k", "scale or scores")
    assert " 2 passed, 1 skipped, " in said  # it has no argument for the scale
    said = run(folder, "test_own.py", "--attention", "mine:Layer", "--collect-only", "-q")
    checks = [f"attention::{check.name}" for check in KIT]
    assert said.splitlines()[: len(KIT) + 1] == ["test_own.py::test_own", *checks]


def test_torch_is_asked_by_its_own_arrays(folder: Path) -> None:
    torchs = "torch.nn.functional:scaled_dot_product_attention"
    said = run(folder, "--attention", torchs, "--attention-dtype", "float64")
    assert " 29 passed, 6 skipped" in said
    untried = "offset, window, softcap, sinks, weights, lse"
    assert f"\n29 passed, 6 skipped. Not tried: {untried}.\n" in said
    said = run(folder, "--attention", torchs, "--attention-arrays", "numpy", "-x", code=1)
    assert "the call stopped with TypeError" in said


def test_what_was_hardly_tried_is_not_green(folder: Path) -> None:
    few = "checks of attention were not tried"
    said = run(folder, "--attention", "mine:three")  # there is no more to try
    assert few in said
    assert said.splitlines()[-1].count("1 warning") == 1
    said = run(folder, "--attention", "mine:other", code=1)
    assert few in said
    assert "Not understood: its `seen`; say --attention-names seen=attn_mask" in said
    said = run(folder, "--attention", "mine:other", "--attention-names", "seen=attn_mask")
    assert few not in said
    said = run(folder, "--attention", "mine:refuses", code=1)
    assert "\nrefused  first-key" not in said
    assert "\nrefused  heads           ValueError: no\n" in said


def test_without_the_option_nothing_is_added_or_loaded(folder: Path) -> None:
    (folder / "conftest.py").write_text(
        "import sys\n\ndef pytest_sessionfinish():\n"
        "    heavy = {'numpy', 'torch', 'companion.contracts', 'companion.conformance.kit'}\n"
        "    print('loaded:', sorted(heavy & sys.modules.keys()))\n"
    )
    said = run(folder, "-s", "--no-header")
    assert "collected 1 item\n" in said
    assert "loaded: []" in said
    assert "1 passed" in said
    assert "attention" not in said.replace("/attention", "")


def test_a_function_that_is_not_there_is_a_wrong_call(folder: Path) -> None:
    (folder / "torn.py").write_text("1 / 0\n")
    (folder / "halved.py").write_text("def f(:\n")
    for given, message in (
        ("mine", "got 'mine', wanted MODULE:FUNCTION"),
        ("mine:none", "module 'mine' has no attribute 'none'"),
        ("mine:number", "got a int"),
        ("mine:Wide", "missing 1 required positional argument: 'width'"),
        ("torn:f", "ERROR: --attention torn:f: cannot import torn\nZeroDivisionError: division"),
        ("halved:f", "cannot import halved\nSyntaxError: "),
    ):
        said = run(folder, "--attention", given, code=4)
        assert message in said
        assert len(said.splitlines()) <= 3


@pytest.mark.slow
def test_workers_share_the_checks(folder: Path) -> None:
    pytest.importorskip("xdist")
    said = run(folder, "-p", "xdist", "-n", "2", "--attention", "mine:unscaled", code=1)
    assert "\nfailed   scale           the scale is 0.75" in said
    assert "1 failed, " in said.splitlines()[-1]
