"""One step of a gated recurrent network, as a drawing for the page, which follows its theme."""

from bookkit.figures.ribbons import InlineSVG

_INK = "var(--am-ink, currentColor)"
_MUTED = "var(--am-muted, currentColor)"
_PETROL = "var(--am-petrol, #2f8593)"
_SIZE = 20  # of the letters: 12 px where a phone shows the drawing 355 px wide
_WIDTH, _HEIGHT = 600, 296
_WIDE, _HIGH = 130, 44  # of a box


def gru_step() -> InlineSVG:
    """Draw how a gated recurrent unit computes its next state from the old one and a word.

    >>> gru_step().count("<rect")
    6
    """
    boxes = (
        _box(10, 30, "old state"), _gate(10, 150, "reset gate"),
        _box(10, 240, "the word", edge="none"), _box(195, 150, "proposal"),
        _gate(300, 90, "update gate"), _box(460, 30, "new state"),
    )  # fmt: skip
    arrows = (
        _arrow("M140 52H452"),  # what is kept
        _arrow("M365 90V60"),  # the update gate decides how much
        _arrow("M75 74V142"),  # the reset gate lets the proposal see the state
        _arrow("M140 172H187"),
        _arrow("M140 262H260V202"),
        _arrow("M325 172H525V82"),  # the proposal enters the mix
    )
    notes = (_note(250, 40, "keep a part"), _note(425, 194, "add the rest"))
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


def _box(x: int, y: int, words: str, *, edge: str = _PETROL, dash: str = "") -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{_WIDE}" height="{_HIGH}" fill="var(--am-paper, Canvas)"'
        f' stroke="{edge}" stroke-width="2"{dash}/>'
        f'<text x="{x + _WIDE // 2}" y="{y + 29}" text-anchor="middle" font-size="{_SIZE}"'
        f' font-weight="700" fill="{_INK}">{words}</text>'
    )


def _gate(x: int, y: int, words: str) -> str:
    return _box(x, y, words, edge=_MUTED, dash=' stroke-dasharray="5 4"')


def _arrow(path: str) -> str:
    return (
        f'<path d="{path}" fill="none" stroke="{_MUTED}" stroke-width="1.6"'
        ' marker-end="url(#gru-head)"/>'
    )


def _note(x: int, y: int, words: str) -> str:
    where = f'x="{x}" y="{y}" text-anchor="middle"'
    return f'<text {where} font-size="19" fill="{_MUTED}">{words}</text>'
