"""Docstrings as document nodes: paragraphs, code in backticks, examples and Google sections.

They are prose for people at a prompt, not markup: nothing that stands in one can break the build.
"""

import re
from collections.abc import Callable
from textwrap import dedent

from docutils import nodes

_HEAD = re.compile(r"(Args|Attributes|Returns|Yields|Raises):(?:\n|$)")
_ITEM = re.compile(r"(\*{0,2}[\w.]+(?: \([^)]*\))?):\s+")

Link = Callable[[str], nodes.Node]  # turns the code between two backticks into a node


def literal(code: str) -> nodes.Node:
    return nodes.literal(code, code)


def render(doc: str, link: Link = literal) -> list[nodes.Node]:
    r"""Turn a docstring without its indentation into nodes.

    >>> rendered = render("Add.\n\nArgs:\n    a: left\n\n>>> 1 + 1\n2")
    >>> [type(node).__name__ for node in rendered]
    ['paragraph', 'field_list', 'literal_block']
    """
    rendered: list[nodes.Node] = []
    fields = nodes.field_list()
    for block in _blocks(doc):
        head = _HEAD.match(block)
        if head:
            if not fields.children:
                rendered.append(fields)
            title = head[1].replace("Args", "Parameters")
            fields += _field(title, dedent(block[head.end() :]), link)
        else:
            rendered.append(_block(block, link))
    return rendered


def _blocks(doc: str) -> list[str]:
    """Split at blank lines; an indented block belongs to the section above it."""
    blocks: list[str] = []
    for block in re.split(r"\n[ \t]*\n", doc.strip("\n")):
        if blocks and block.startswith(" ") and _HEAD.match(blocks[-1]):
            blocks[-1] += f"\n\n{block}"
        else:
            blocks.append(block)
    return blocks


def _block(block: str, link: Link) -> nodes.Element:
    if block.startswith(">>>"):
        return nodes.literal_block(block, block, language="pycon")
    if block.startswith(" "):
        return nodes.literal_block(block, dedent(block), language="text")
    if block.startswith("- "):
        paragraphs = [_paragraph(item, link) for item in block.removeprefix("- ").split("\n- ")]
        return nodes.bullet_list("", *(nodes.list_item("", one) for one in paragraphs), bullet="-")
    return _paragraph(block, link)


def _field(title: str, body: str, link: Link) -> nodes.field:
    items = _items(body) if title in ("Parameters", "Attributes", "Raises") else []
    blocks = [] if items else re.split(r"\n[ \t]*\n", body)
    content = [_definitions(items, link)] if items else [_block(block, link) for block in blocks]
    return nodes.field("", nodes.field_name("", title), nodes.field_body("", *content))


def _items(body: str) -> list[tuple[str, str]]:
    items: list[tuple[str, str]] = []
    for line in body.splitlines():
        head = None if line.startswith(" ") else _ITEM.match(f"{line} ")
        if head:
            items.append((head[1], line[head.end() :]))
        elif items:
            items[-1] = (items[-1][0], f"{items[-1][1]}\n{line.strip()}")
        else:
            return []
    return items


def _definitions(items: list[tuple[str, str]], link: Link) -> nodes.definition_list:
    listing = nodes.definition_list()
    for name, text in items:
        term, said = nodes.term("", "", nodes.literal(name, name)), _paragraph(text, link)
        listing += nodes.definition_list_item("", term, nodes.definition("", said))
    return listing


def _paragraph(text: str, link: Link) -> nodes.paragraph:
    """Make a paragraph; what stands between backticks is code."""
    paragraph = nodes.paragraph(support_smartquotes=False)  # (..., q, k) keeps its dots
    for number, part in enumerate(re.split(r"`+", text)):
        if part:
            paragraph += link(part) if number % 2 else nodes.Text(part.replace("->", "→"))
    return paragraph
