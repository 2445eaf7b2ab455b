"""What a cell shows of the package is what stands in its file, less decorators and docstrings."""

import inspect
import textwrap
from typing import Any

import pytest

from bookkit.notebook import Source, show_source
from companion import MultiHeadAttention, alignment, attend, scaled_dot_product_attention
from companion.models.transformer.blocks import PostNorm
from tests.bookkit.notebook import sample


def shown(obj: Any) -> str:
    ((_, code),) = show_source(obj).pieces
    return code


def test_what_is_shown_are_the_lines_of_the_file() -> None:
    for obj in (
        scaled_dot_product_attention, MultiHeadAttention, PostNorm, alignment.IBMModel1, attend,
    ):  # fmt: skip
        installed = textwrap.dedent(inspect.getsource(inspect.unwrap(obj))).splitlines()
        left = iter(installed)
        assert all(line in left for line in shown(obj).splitlines()), "in another order"
        assert shown(obj).startswith(("def ", "class "))
        assert '"""' not in shown(obj)


def test_docstrings_and_decorators_go_and_nothing_else() -> None:
    assert shown(sample.decorated) == textwrap.dedent('''\
        def decorated(x: int) -> str:
            # A comment stays.
            text = """no docstring"""
            return text''')
    assert shown(sample.Box) == textwrap.dedent("""\
        class Box:
            size = 3

            @property
            def method(self) -> int:
                return self.size""")
    assert shown(sample.OnlyWordsError).endswith('"""There is nothing else here."""')


def test_what_has_no_source_is_refused() -> None:
    for obj in (len, 3, "text", Source(())):
        with pytest.raises(TypeError, match=r"obj: got .* wanted a function, class or method"):
            show_source(obj)
