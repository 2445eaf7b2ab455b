"""Two pieces of code beside each other, what is wrong and what is right, with the lines marked."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from html import escape
from typing import Any

# Two columns where each has room for about 40 letters, else one below the other. A line that is
# too long goes on in the next one, indented, so that nothing is cut and nothing scrolls.
_STYLE = (
    ".am-source .am-beside{display:grid;gap:.75rem 1rem;"
    "grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr))}"
    ".am-source .am-beside>div{min-width:0}"
    ".am-source .am-beside pre{font-size:.8125rem;overflow-wrap:anywhere;"
    "white-space:pre-wrap}"
    # Every letter counts in a narrow column, so this outweighs the style of the page.
    ".am-source .am-beside .highlight pre{padding:.4rem 0 !important;border:0 !important}"
    ".am-source .am-beside .am-line{display:block;position:relative;color:inherit;"
    "background:none;padding-inline-start:calc((var(--in) + 5)*1ch);"
    "text-indent:calc((var(--in) + 4)*-1ch)}"
    ".am-source .am-beside mark.am-line{padding-block:0;box-shadow:inset 3px 0 var(--mark);"
    "background:color-mix(in srgb,var(--mark) 8%,transparent)}"
    ".am-source .am-wrong{--mark:var(--am-wine,#7d1238)}"
    ".am-source .am-right{--mark:var(--am-petrol,#1d6571)}"
)


@dataclass(frozen=True, repr=False)
class Beside:
    """Wrong code beside right code, as HTML or as text."""

    wrong: str  # the code to mend
    right: str  # the code that mends it
    titles: tuple[str, str]  # what stands above each of them

    @property
    def changed(self) -> tuple[set[int], set[int]]:
        """The numbers, from 0, of the lines that only the wrong code or only the right one has."""
        lines = self.wrong.splitlines(), self.right.splitlines()
        same = SequenceMatcher(None, *lines, autojunk=False).get_matching_blocks()
        kept = (
            {block.a + step for block in same for step in range(block.size)},
            {block.b + step for block in same for step in range(block.size)},
        )
        first, second = (
            {number for number, line in enumerate(side) if line.strip()} - stay
            for side, stay in zip(lines, kept, strict=True)
        )
        return first, second

    def __repr__(self) -> str:
        return "\n\n".join(
            "\n".join([f"# {title}", *self._marked(code, changed, sign)])
            for title, code, changed, sign in zip(
                self.titles, (self.wrong, self.right), self.changed, "-+", strict=True
            )
        )

    def _repr_html_(self) -> str:
        codes, names = (self.wrong, self.right), ("am-wrong", "am-right")
        sides = "".join(
            f'<div class="{name}"><div class="am-place">{escape(title)}</div>'
            f'<div class="highlight"><pre>{"".join(_lines(code, changed))}</pre></div></div>'
            for name, title, code, changed in zip(
                names, self.titles, codes, self.changed, strict=True
            )
        )
        return (
            f'<div class="am-source"><style>{_STYLE}</style><div class="am-beside">{sides}</div>'
            "</div>"
        )

    @staticmethod
    def _marked(code: str, changed: set[int], sign: str) -> Iterator[str]:
        for number, line in enumerate(code.splitlines()):
            yield f"{sign if number in changed else ' '} {line}".rstrip()


def beside(
    wrong: str | Callable[..., Any],
    right: str | Callable[..., Any],
    *,
    titles: tuple[str, str] = ("the notebook", "the repair"),
) -> Beside:
    r"""Show wrong code beside right code, and mark the lines in which they differ.

    Args:
        wrong: the code to mend: a text, or a function, of which the statements are shown, without
            its docstring and the `return` at its end.
        right: the code that mends it.
        titles: what stands above each of them.

    >>> beside("x = softmax(scores, axis=1)\nprint(x)", "x = softmax(scores, axis=-1)\nprint(x)")
    # the notebook
    - x = softmax(scores, axis=1)
      print(x)
    <BLANKLINE>
    # the repair
    + x = softmax(scores, axis=-1)
      print(x)
    """
    return Beside(_code(wrong), _code(right), titles)


def _code(given: str | Callable[..., Any]) -> str:
    if isinstance(given, str):
        return textwrap.dedent(given).strip("\n")
    return statements(given)


def statements(function: Callable[..., Any]) -> str:
    """Return the statements of a function, without its docstring and the `return` at its end.

    >>> def double(x):
    ...     "Double a number."
    ...     y = 2 * x
    ...     return y
    >>> statements(double)
    'y = 2 * x'
    """
    code = textwrap.dedent(inspect.getsource(function))
    (definition,) = ast.parse(code).body
    assert isinstance(definition, ast.FunctionDef)
    body = definition.body
    start = body[1] if ast.get_docstring(definition) is not None else body[0]
    last = body[-2] if isinstance(body[-1], ast.Return) else body[-1]
    lines = code.splitlines()[start.lineno - 1 : last.end_lineno]
    return textwrap.dedent("\n".join(lines))


def _lines(code: str, changed: set[int]) -> Iterator[str]:
    """Yield the lines of a piece of code in colours, each an element that knows its indent."""
    from pygments import formatters, highlight, lexers  # type: ignore[import-untyped]

    coloured = highlight(
        code, lexers.PythonLexer(stripnl=False), formatters.HtmlFormatter(nowrap=True)
    )
    plain = code.splitlines()
    for number, (line, shown) in enumerate(zip(plain, coloured.splitlines(), strict=True)):
        indent = len(line) - len(line.lstrip())
        tag = "mark" if number in changed else "span"
        yield f'<{tag} class="am-line" style="--in:{indent}">{shown}\n</{tag}>'
