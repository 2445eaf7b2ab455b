"""`pytest --attention module:function`, as somebody else runs it: in a folder of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from companion.conformance.kit import KIT

ROOT = Path(__file__).parents[2]

MINE = """
from tests.conformance.broken import attention

def unscaled(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False):
    return attention(query, key, value, attn_mask, is_causal=is_causal, fault="unscaled")

class Layer:
    @staticmethod
    def attend(query, key, value):
        return unscaled(query / query.shape[-1] ** 0.5, key, value)

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
    assert "the scale is 1: divide by sqrt(16), the width of a head" in said
    assert "'The wrong width': appendices/museum.html#the-wrong-width" in said
    assert "Traceback" not in said
    assert "\nskipped  sinks           its signature has no `sinks`\n" in said
    assert "\npassed   causal          Does the future stay hidden?\n" in said
    assert "2 failed, " in said.splitlines()[-1]  # definition and scale


def test_checks_are_selected_as_tests_are_and_come_beside_those_of_a_path(folder: Path) -> None:
    layer = "--attention", "mine:Layer.attend"
    said = run(folder, *layer, "-k", "scale or scores")
    assert " 2 passed, 1 skipped, " in said  # it has no argument for the scale
    said = run(folder, "test_own.py", *layer, "--collect-only", "-q")
    checks = [f"attention::{check.name}" for check in KIT]
    assert said.splitlines()[: len(KIT) + 1] == ["test_own.py::test_own", *checks]


def test_torch_is_asked_by_its_own_arrays(folder: Path) -> None:
    torchs = "torch.nn.functional:scaled_dot_product_attention"
    said = run(folder, "--attention", torchs, "--attention-dtype", "float64")
    assert " 22 passed, 6 skipped" in said
    said = run(folder, "--attention", torchs, "--attention-arrays", "numpy", "-x", code=1)
    assert "the call stopped with TypeError" in said


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
    for given, message in (
        ("mine", "got 'mine', wanted MODULE:FUNCTION"),
        ("mine:other", "module 'mine' has no attribute 'other'"),
        ("mine:number", "got a int"),
    ):
        said = run(folder, "--attention", given, code=4)
        assert message in said
        assert "Traceback" not in said


@pytest.mark.slow
def test_workers_share_the_checks(folder: Path) -> None:
    pytest.importorskip("xdist")
    said = run(folder, "-p", "xdist", "-n", "2", "--attention", "mine:unscaled", code=1)
    assert "\nfailed   scale           the scale is 1" in said
    assert "2 failed, 17 passed, 9 skipped" in said
