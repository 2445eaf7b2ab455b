"""The floors of the package: imports point down, and modules of one floor leave each other be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from book_site.reference import floors

import companion

PACKAGE = Path(companion.__file__).parent

FLOORS = [
    set(names) for _, names in floors((PACKAGE.parent / "CONTRIBUTING.md").read_text("utf-8"))
]
FLOOR = {unit: floor for floor, units in enumerate(FLOORS) for unit in units}
TORCH_FROM = FLOOR["layers"]
UPWARD = ("dispatch", "companion.kernels")
"""The one import that points up, in a call: the kernels enter themselves when a tensor has come."""

MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def unit_of(name: str) -> str:
    """The room that a module lies in, as the list names it: `attention`, `pages.plot`."""
    top, *rest = name.removesuffix(".__init__").split(".")
    inner = f"{top}.{rest[0]}" if rest else top
    return inner if inner in FLOOR else top


def imported(source: str, module: Path) -> Iterator[tuple[str, bool]]:
    """Every absolute name that a module imports, and whether on import rather than on a call."""
    package = ["companion", *module.parts[:-1]]

    def visit(node: ast.AST, at_once: bool) -> Iterator[tuple[str, bool]]:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from (found for other in node.orelse for found in visit(other, at_once))
            return
        if isinstance(node, ast.Import):
            yield from ((alias.name, at_once) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            if name == "companion":  # from companion import masks
                yield from ((f"{name}.{alias.name}", at_once) for alias in node.names)
            else:
                yield name, at_once
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, at_once and not inside)

    return visit(ast.parse(source), True)


def faults(source: str, module: Path) -> list[str]:
    """What a module imports although it may not."""
    found, own = [], ".".join(module.with_suffix("").parts)
    unit = unit_of(own)
    for name, at_once in imported(source, module):
        top, _, rest = name.partition(".")
        loads_torch = top == "torch"
        if loads_torch and at_once and FLOOR[unit] < TORCH_FROM:
            found.append(f"{module} imports torch before an array of torch has come")
        if top != "companion" or ((own, name) == UPWARD and not at_once):
            continue
        other = unit_of(rest)
        if other not in FLOOR:
            found.append(f"{module} imports {name} instead of the module that defines it")
        elif other != unit and FLOOR[other] >= FLOOR[unit]:
            found.append(f"{module} (floor {FLOOR[unit]}) imports {name} (floor {FLOOR[other]})")
    return found


def test_every_module_has_a_floor() -> None:
    names = {".".join(module.with_suffix("").parts) for module in MODULES}
    assert {unit_of(name) for name in names} - {"__init__"} <= FLOOR.keys()


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_imports_point_down(module: Path) -> None:
    source = (PACKAGE / module).read_text(encoding="utf-8")
    if str(module) == "__init__.py":
        assert "companion" not in {name.split(".")[0] for name, _ in imported(source, module)}
    else:
        assert faults(source, module) == []


@pytest.mark.parametrize(
    ("module", "line", "wrong"),
    [
        ("attention.py", "from companion.masks import causal_mask", False),
        ("attention.py", "import companion.layers", True),
        ("attention.py", "from companion import layers", True),
        ("attention.py", "from companion import scaled_dot_score", True),
        ("attention.py", "from .layers import LuongAttention", True),
        ("attention.py", "def f():\n    import companion.layers", True),
        ("attention.py", "if TYPE_CHECKING:\n    import companion.layers", False),
        ("attention.py", "import torch", True),
        ("attention.py", "from torch import nn", True),
        ("attention.py", "def f():\n    import torch", False),
        ("kernels/cpu.py", "import torch", False),
        ("bands.py", "import torch", True),
        ("tiled.py", "from companion.kernels import cpu", True),
        ("tiled.py", "def f():\n    import companion.kernels", True),
        ("dispatch.py", "import companion.kernels", True),
        ("dispatch.py", "def f():\n    import companion.kernels", False),
        ("layers/luong.py", "import torch", False),
        ("layers/luong.py", "from companion.layers.memory import MemoryAttention", False),
        ("layers/multi_head.py", "from companion.cache import KVCache", True),
        ("masks.py", "from companion.scores import dot_score", True),
        ("data/batching.py", "from companion.data.pairs import Pair", False),
        ("data/batching.py", "from .pairs import Pair", False),
        ("data/batching.py", "from ..metrics import bleu", True),
        ("cost/size.py", "from companion.training import train", True),
        ("models/transformer/config.py", "from companion.cost import measure_flops", True),
    ],
)
def test_the_check_sees_what_it_should(module: str, line: str, wrong: bool) -> None:
    assert bool(faults(line, Path(module))) is wrong
