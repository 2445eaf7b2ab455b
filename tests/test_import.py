"""Importing is light: no array library with the package, and never torch for NumPy users."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import companion

ROOT = Path(__file__).parents[1]
HEAVY = ("numpy", "torch", "array_api_compat", "matplotlib")


def run(script: str) -> str:
    """Run a script in a fresh interpreter and return what it prints."""
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_the_package_loads_no_array_library() -> None:
    loaded = run("import companion, sys; dir(companion); print(*sys.modules)").split()
    assert not set(HEAVY) & set(loaded)
    assert [name for name in loaded if name.startswith("companion")] == ["companion"]


def test_numpy_users_never_load_torch() -> None:
    loaded = run("""
import importlib
import sys

import numpy as np
import companion

for name in ("differential", "gates", "indexed", "latent", "positions", "scores", "tiled"):
    importlib.import_module(f"companion.{name}")
x = np.ones((2, 6, 5, 3))
companion.tiled_attention(x, x, x, is_causal=True)
companion.attention_with_lse(x, x, x, companion.causal_mask(5), sinks=np.ones(6), softcap=2.0)
companion.rotate(x, np.arange(5), frequencies=companion.rotary_frequencies(2))
companion.linear_attention(x, x, x, feature_map=companion.elu_feature_map, decay=x)
companion.short_convolution(x, np.ones((3, 4)), bias=np.ones(3))
try:
    companion.scaled_dot_product_attention(x, [1.0], x)
except TypeError:
    print(*sys.modules)
""").split()
    assert "numpy" in loaded
    assert "torch" not in loaded


def test_whoever_lacks_torch_is_told_what_to_install() -> None:
    said = run("""
import sys

sys.modules["torch"] = None  # as if it were not installed
import companion

for wanted in ("MultiHeadAttention", "KVCache", "LanguageModel"):
    try:
        getattr(companion, wanted)
    except ModuleNotFoundError as error:
        print(error.name, error)
try:
    from companion.decoding import greedy
except ModuleNotFoundError as error:
    print(error.name, error)
""").splitlines()
    assert len(said) == 4
    assert {line.endswith("pip install 'attention-companion[train]'") for line in said} == {True}
    assert {line.split()[0] for line in said} == {"torch"}


def test_every_name_resolves() -> None:
    pytest.importorskip("torch")
    assert sorted(companion.__all__) == companion.__all__
    assert set(companion.__all__) <= set(dir(companion))
    for name in companion.__all__:
        value = getattr(companion, name)
        assert (value.__name__, value.__module__.split(".")[0]) == (name, "companion")


def test_type_checkers_see_the_names_that_exist() -> None:
    tree = ast.parse(Path(companion.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        f"{node.module}.{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    resolved = {
        f"companion.{module}.{name}"
        for module, names in companion._MODULES.items()
        for name in names
    }
    assert seen == resolved
    assert {name.rpartition(".")[2] for name in seen} == set(companion.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'companion' has no attribute 'attnetion'$"):
        _ = companion.attnetion


def test_the_version_is_the_distributions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert companion.__version__ == project["version"]
