"""One step of a gated recurrent network, as a drawing for the page, which follows its theme."""

from typing import Literal

from bookkit.figures.ribbons import InlineSVG

Kind = Literal["state", "gate", "words"]

_INK = "var(--am-ink, currentColor)"
_MUTED = "var(--am-muted, currentColor)"
_PETROL = "var(--am-petrol, #2f8593)"
_SIZE = 20  # of the letters: 10 px where a phone shows the drawing 355 px wide
_WIDTH, _HEIGHT = 680, 330
_WIDE, _HIGH = 130, 44  # of a box


def gru_step() -> InlineSVG:
    """Draw how a gated recurrent unit computes its next state from the old one and a word.

    >>> gru_step().count("<rect")
    6
    """
    boxes = (
        _box(10, 30, "old state", "state"),
        _box(10, 150, "reset gate", "gate"),
        _box(10, 270, "the word", "words"),
        _box(225, 150, "proposal", "state"),
        _box(345, 90, "update gate", "gate"),
        _box(540, 30, "new state", "state"),
    )
    arrows = (
        _arrow("M140 52H532"),  # what is kept
        _arrow("M410 90V60"),  # the update gate decides how much
        _arrow("M75 74V142"),  # the reset gate lets the proposal see the state
        _arrow("M140 172H217"),
        _arrow("M140 292H290V202"),
        _arrow("M355 172H605V82"),  # the proposal enters the mix
    )
    notes = (_note(275, 40, "keep a part"), _note(500, 194, "add the rest"))
    body = "".join((*arrows, *boxes, *notes))
    title = "One step of a gated recurrent unit"
    description = (
        "The old state runs straight to the new state. The update gate decides which part of it is "
        "kept; the rest comes from a proposal. The proposal is computed from the word and from as "
        "much of the old state as the reset gate lets through."
    )
    return InlineSVG(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
        ' aria-labelledby="gru-title gru-desc" style="width: 100%; height: auto">'
        f'<title id="gru-title">{title}</title><desc id="gru-desc">{description}</desc>'
        f"{_HEAD}{body}</svg>",
        alt=f"{title}. {description}",
    )


_HEAD = (
    '<defs><marker id="gru-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7"'
    f' markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="{_MUTED}"/></marker></defs>'
)


def _box(x: int, y: int, words: str, kind: Kind) -> str:
    edge = {"state": _PETROL, "gate": _MUTED, "words": "none"}[kind]
    dash = ' stroke-dasharray="5 4"' if kind == "gate" else ""
    return (
        f'<rect x="{x}" y="{y}" width="{_WIDE}" height="{_HIGH}" fill="var(--am-paper, Canvas)"'
        f' stroke="{edge}" stroke-width="2"{dash}/>'
        f'<text x="{x + _WIDE // 2}" y="{y + 29}" text-anchor="middle" font-size="{_SIZE}"'
        f' font-weight="700" fill="{_INK}">{words}</text>'
    )


def _arrow(path: str) -> str:
    return (
        f'<path d="{path}" fill="none" stroke="{_MUTED}" stroke-width="1.6"'
        ' marker-end="url(#gru-head)"/>'
    )


def _note(x: int, y: int, words: str) -> str:
    where = f'x="{x}" y="{y}" text-anchor="middle"'
    return f'<text {where} font-size="18" fill="{_MUTED}">{words}</text>'
