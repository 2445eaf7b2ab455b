import ast
import html
import importlib.util
import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bookkit.notebook import Source, show_source
from bookkit.notebook.box import MeasuredBox
from bookkit.notebook.narrow import narrow
from bookkit.notebook.source import _without_contracts, _without_docstrings
from bookkit.records import Measure
from companion import (
    MultiHeadAttention,
    additive_score,
    alignment,
    attend,
    masked_softmax,
    online_softmax,
    recurrent_linear_attention,
    rotate,
    scaled_dot_product_attention,
    tiled_attention,
)
from companion.models.transformer import Block

CODE = '''"""A module.

With two lines.
"""

import functools


def decorate(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)

    return inner


@decorate
def decorated(x):
    """Say nothing."""
    # A comment stays.
    text = """no docstring"""
    return text


class OnlyWords(ValueError):
    """There is nothing else here."""


class Box:
    """Hold things.

    For a while.
    """

    size = 3

    def method(self):
        """Return it."""
        return self.size

    def short(self): "Shared line."
'''


@pytest.fixture
def sample(tmp_path: Path) -> ModuleType:
    file = tmp_path / "sample_module.py"
    file.write_text(CODE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("sample_module", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "obj",
    [alignment.argmax_links, alignment.IBMModel1, alignment, MeasuredBox._repr_html_],
)
def test_what_is_shown_is_what_is_installed(obj: Callable[..., Any]) -> None:
    shown = show_source(obj, contract=True)
    installed = textwrap.dedent(inspect.getsource(obj))
    expected = narrow(installed)
    assert shown.code == expected
    assert ast.dump(ast.parse(expected)) == ast.dump(ast.parse(installed))
    pre = re.findall(r"<pre>(.*)</pre>", shown._repr_html_(), re.DOTALL)
    assert html.unescape(re.sub("<[^>]+>", "", pre[0])) == expected
    module = getattr(obj, "__module__", "companion.alignment")
    assert repr(shown) == f"# {module}\n{expected}".rstrip()


def test_properties_and_decorated_functions_show_what_they_wrap(sample: ModuleType) -> None:
    assert "def digits(self)" in show_source(Measure.digits).code
    assert show_source(sample.decorated).code.startswith("@decorate\ndef decorated(x):")


@pytest.mark.parametrize("obj", [Block, alignment.IBMModel1, alignment, MeasuredBox._repr_html_])
def test_without_hints_the_code_is_the_same_but_for_types(obj: Callable[..., Any]) -> None:
    whole = ast.parse(show_source(obj, contract=True).code)
    shown = ast.parse(show_source(obj, contract=True, hints=False).code)
    for node in ast.walk(whole):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            for one in ast.walk(node.args):
                if isinstance(one, ast.arg):
                    one.annotation = None
    assert _plain(whole) == _plain(shown)


def _plain(tree: ast.AST) -> str:
    """Return a tree as code, in which variables with a value have no type."""

    class Untyped(ast.NodeTransformer):
        def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
            if node.value is None or node.lineno != node.value.lineno:
                return node
            return ast.Assign([node.target], node.value, lineno=node.lineno)

    return ast.unparse(Untyped().visit(tree))


def test_hints_leave_no_gap_in_a_head() -> None:
    shown = show_source(Block.forward, doc=False, hints=False).code
    assert shown.startswith("def forward(\n    self, x, memory=None, *, attn_mask=None,")
    assert "Tensor" not in shown


def test_without_docstrings_the_code_is_the_same(sample: ModuleType) -> None:
    shown = show_source(sample, doc=False).code
    assert shown == textwrap.dedent('''\

        import functools


        def decorate(function):
            @functools.wraps(function)
            def inner(*args):
                return function(*args)

            return inner


        @decorate
        def decorated(x):
            # A comment stays.
            text = """no docstring"""
            return text


        class OnlyWords(ValueError):
            ...


        class Box:
            size = 3

            def method(self):
                return self.size

            def short(self): "Shared line."
        ''').removeprefix("\n")


def test_docstrings_go_and_nothing_else(sample: ModuleType) -> None:
    class Strip(ast.NodeTransformer):
        def generic_visit(self, node: ast.AST) -> ast.AST:
            super().generic_visit(node)
            documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
            if isinstance(node, documented) and ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Expr(ast.Constant(...))]
            return node

    for module in (alignment, inspect):
        whole = Strip().visit(ast.parse(inspect.getsource(module)))
        assert ast.dump(ast.parse(show_source(module, doc=False, contract=True).code)) == ast.dump(
            whole
        )


def test_contracts_are_shown_when_asked_for() -> None:
    assert show_source(attend).code.startswith("def attend(weights: ArrayT, value: ArrayT)")
    asked = show_source(attend, contract=True).code
    assert asked.startswith('@contract(weights="... q k", value="... k v")\ndef attend(')
    plain = show_source(scaled_dot_product_attention, doc=False).code
    assert plain.startswith("def scaled_dot_product_attention(")
    assert "fmt:" not in plain
    assert "contract" not in show_source(MultiHeadAttention, doc=False).code


def test_what_is_there_for_type_checkers_alone_is_shown_when_asked_for() -> None:
    plain = show_source(MultiHeadAttention, doc=False).code
    asked = show_source(MultiHeadAttention, doc=False, contract=True).code
    for words in ("@overload", "TYPE_CHECKING", "__call__ = forward"):
        assert words in asked
        assert words not in plain
    assert plain.count("def forward(") == 1
    names = [node.name for node in ast.parse(plain).body[0].body if hasattr(node, "name")]  # type: ignore[attr-defined]
    kept = [node for node in ast.parse(asked).body[0].body if hasattr(node, "name")]  # type: ignore[attr-defined]
    assert names == list(dict.fromkeys(node.name for node in kept))
    assert "\n\n\n" not in plain
    assert not plain.endswith("\n\n")


SCREEN = 35


@pytest.mark.parametrize(
    ("definition", "longest_body"),
    [
        (scaled_dot_product_attention, 25),
        (masked_softmax, 14),
        (additive_score, 12),
        (online_softmax, 18),
        (tiled_attention, SCREEN),
        (rotate, SCREEN),
        (recurrent_linear_attention, SCREEN),
        (MultiHeadAttention.forward, SCREEN),
        (Block.forward, SCREEN),
        (alignment.IBMModel1, SCREEN),
    ],
)
def test_a_definition_fits_on_a_screen(definition: Any, longest_body: int) -> None:
    # As it is installed: on a page, long lines take two or three.
    installed = textwrap.dedent(inspect.getsource(inspect.unwrap(definition)))
    code = _without_docstrings(_without_contracts(installed))
    assert len(code.strip().splitlines()) <= SCREEN
    body = ast.parse(code).body[0].body  # type: ignore[attr-defined]
    assert body[-1].end_lineno - body[0].lineno + 1 <= longest_body
    assert "raise" not in code


def test_several_objects_stand_below_their_modules() -> None:
    shown = show_source(alignment.argmax_links, alignment.diagonal_links, MeasuredBox)
    assert [line for line in repr(shown).splitlines() if line.startswith("# ")] == [
        "# companion.alignment.links",
        "# bookkit.notebook.box",
    ]
    assert shown._repr_html_().count('<div class="highlight">') == 2


def test_no_place_on_the_machine_is_shown(sample: ModuleType, tmp_path: Path) -> None:
    for shown in (show_source(sample), show_source(alignment)):
        for form in (repr(shown), shown._repr_html_()):
            assert str(tmp_path) not in form
            assert str(Path(alignment.__file__).parent) not in form


@pytest.mark.parametrize("obj", [len, 3, "text", Source(())])
def test_what_has_no_source_is_refused(obj: object) -> None:
    with pytest.raises(TypeError, match=r"obj: got .* wanted a function, class, method or module"):
        show_source(obj)
