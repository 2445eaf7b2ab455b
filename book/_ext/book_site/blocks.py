"""Blocks that wait until they are near the screen: a phone need not lay out the whole page.

A block is a paragraph, list, table, formula or cell that stands in a section by itself. It tells
how many lines high it will be, roughly; the rest is `.am-wait` in the style sheet. Images do not
wait: on a dark page they mix with what is behind them, and what waits is closed off from that. What
is folded is not laid out anyway.
"""

from __future__ import annotations

import re
from math import ceil
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_LETTERS = 66  # a line
_TEX = 0.4  # letters that a formula shows, of those that it is written with
_CODE = 0.65  # height of a line of code, in lines of text
_FRAME = 1.5  # around code, and half a line of a table
_FIRST = 8  # of a page: they are on the screen, and would move if they were not as high as expected
_OPEN = {"cell_input", "cell_output"}
_CLASS = re.compile(r'class="([^"]*?) ?am-rows-(\d+)([^"]*)"')
_TAG = re.compile(r"<style.*?</style>|<[^>]*>", flags=re.DOTALL)
_UNSEEN = (nodes.Invisible, nodes.section, nodes.title)  # by themselves
_TEXT = (nodes.paragraph, nodes.bullet_list, nodes.enumerated_list)


def rows(block: nodes.Node) -> int | None:
    """Return how many lines of text a block is high, roughly; None if it does not wait."""
    if any(block.findall(nodes.image)) or any("<script" in raw.astext() for raw in _raw(block)):
        return None
    if isinstance(block, _TEXT):
        return sum(_text_rows(part) for part in block.findall(nodes.paragraph))
    if isinstance(block, nodes.math_block):
        return 3 + str(block.astext()).count(r"\\")
    if isinstance(block, nodes.table):
        return ceil(2 * _FRAME * len(list(block.findall(nodes.row))))
    if isinstance(block, nodes.container) and "cell" in block["classes"]:
        parts = [_part_rows(part) for part in block.children]
        return None if None in parts else ceil(sum(filter(None, parts)))
    return None


def _raw(block: nodes.Node) -> list[nodes.raw]:
    return list(block.findall(nodes.raw))


def _text_rows(part: nodes.paragraph) -> int:
    tex = sum(len(formula.astext()) for formula in part.findall(nodes.math))
    return ceil((len(part.astext()) - (1 - _TEX) * tex) / _LETTERS)


def _part_rows(part: nodes.Node) -> float | None:
    """Return the height of what goes into a cell or comes out of it; None if it is folded."""
    if not (isinstance(part, nodes.container) and _OPEN & {*part["classes"]}):
        return None
    code = [block.astext() for block in part.findall(nodes.literal_block)]
    code += [_TAG.sub("", raw.astext()).strip() for raw in _raw(part)]
    return sum(_FRAME + _CODE * len(text.splitlines()) for text in code)


def tell(body: str) -> str:
    """Hand what a class says about the height of a block to the style sheet.

    >>> tell('<p class="lead am-wait am-rows-12">')
    '<p class="lead am-wait" style="--rows:12">'
    """
    return _CLASS.sub(r'class="\1\3" style="--rows:\2"', body)


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", _mark, priority=900)
    app.connect("html-page-context", _tell, priority=940)


def _mark(app: Sphinx, doctree: nodes.document, _page: str) -> None:
    if app.builder.format != "html":
        return
    outer = (nodes.document, nodes.section)  # a solution has sections, too, and is folded
    sections = [one for one in doctree.findall(nodes.section) if isinstance(one.parent, outer)]
    blocks = [child for section in sections for child in section.children]
    seen = [block for block in blocks if not isinstance(block, _UNSEEN)]
    for block in seen[_FIRST:]:
        if height := rows(block):
            _hold(block)["classes"] += ["am-wait", f"am-rows-{height}"]


def _hold(block: nodes.Element) -> nodes.Element:
    """Return what can wait: for a table, a box around it."""
    if not isinstance(block, nodes.table):
        return block
    box = nodes.container()
    block.replace_self(box)
    box += block
    return box


def _tell(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    if body := context.get("body"):
        context["body"] = tell(body)
