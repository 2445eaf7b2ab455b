"""The block of an architecture, drawn from its specification."""

import textwrap
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from bookkit.atlas.kinds import REACHES, LayerKind, alike, kind_of, mixers_of
from bookkit.atlas.shapes import STRIPES, Drawing
from bookkit.atlas.words import details, position_words
from companion.models.atlas.experts import ExpertsSpec
from companion.models.atlas.kept import INDEXER_KEYS
from companion.models.atlas.norms import NormSpec
from companion.models.atlas.specs import LayerSpec, ModelSpec

WIDTH = 360.0
"""Of the drawing, in its own units: as many pixels as a phone has."""

LETTERS = 12.0
"""Size of its letters, in the same units."""

_STRIP, _LEAST = 34.0, 300.0  # width of the strip of layers, and least height
_PART = dict(STRIPES.values())
_AXIS, _MIDDLE, _BOX = 58.0, 114.0, 92.0  # the residual stream, and what branches off from it
_PANEL, _INSIDE = 186.0, 172.0  # where a mixer is drawn, and how wide
_LINE = 16.0
_LETTERS_A_LINE = 28


def draw_block(spec: ModelSpec) -> Drawing:
    """Draw the layers of a model along its depth, one block, and the mixers of its layers.

    >>> from companion.models.atlas import AttentionSpec, LayerSpec, ModelSpec
    >>> layer = LayerSpec(AttentionSpec(8, 2, 16), None)
    >>> drawing = draw_block(ModelSpec(11, 16, (layer,) * 4))
    >>> drawing.width, any("8 query heads" in str(shape[-1]) for shape in drawing.shapes)
    (360.0, True)
    """
    drawing = Drawing(WIDTH)
    bottom = 20.0
    for group in _groups(spec):
        for kind, number in Counter(map(kind_of, group)).items():
            bottom = _title(drawing, kind, number, bottom)
        for place in range(len(mixers_of(group[0]))):
            bottom = _panel(drawing, [mixers_of(layer)[place] for layer in group], bottom) + 8
        bottom += 6
    drawing.height = max(bottom, _LEAST)
    drawing.strip(0, 20, _STRIP, drawing.height - 24, letters_of(spec))
    drawing.text("small", 0, 10, "layers")
    _skeleton(drawing, spec, drawing.height)
    return drawing


def letters_of(spec: ModelSpec) -> str:
    """Return a letter for every layer, of `STRIPES`: what it reaches."""
    letters = {reach: letter for letter, (reach, _) in STRIPES.items()}
    return "".join(letters[kind_of(layer).reach] for layer in spec.layers)


# The mixers


def _groups(spec: ModelSpec) -> Iterator[list[LayerSpec]]:
    """Yield the layers that are drawn together: alike but for reach and positions."""
    found: dict[Any, list[LayerSpec]] = {}
    for layer in spec.layers:
        if layer.mixer is not None:
            found.setdefault(alike(layer), []).append(layer)
    yield from found.values()


def _panel(drawing: Drawing, mixers: list[Any], y: float) -> float:
    """Draw a mixer of some layers from the top down; return where it ends."""
    y = _heads(drawing, mixers[0], y + 2)
    for words in dict.fromkeys(map(position_words, mixers)):
        if words:
            y = _positions(drawing, mixers, words, y)
    for words in details(mixers[0]):
        y = _detail(drawing, words, y)
    return y


def _title(drawing: Drawing, kind: LayerKind, number: int, y: float) -> float:
    for place, words in enumerate(_lines(kind.counted(number), _LETTERS_A_LINE - 3)):
        if place == 0:
            length = 12 * _PART[kind.reach]
            look = f"reach {kind.reach}"
            drawing.shapes.append(["d", look, f"M{_PANEL:g} {y:g}h{length:.1f}", 9, "none"])
        drawing.text("bold", _PANEL + 18, y + 4, words)
        y += _LINE
    return y


def _lines(words: str, letters: int = _LETTERS_A_LINE) -> list[str]:
    return textwrap.wrap(words, letters, break_long_words=False)


def _heads(drawing: Drawing, mixer: Any, y: float) -> float:
    """Draw query heads above what they share, and say how many there are."""
    queries = getattr(mixer, "num_heads", None)
    shared = getattr(mixer, "num_kv_heads", None)
    if shared is not None and queries is not None:
        drawing.bars("query", _PANEL, y, _INSIDE, 18, queries)
        drawing.bars("key", _PANEL, y + 21, _INSIDE, 10, shared)
        y = _say(drawing, f"{queries} query heads of {mixer.head_dim}", y + 45)
        each = "each its own" if shared == queries else f"{shared} heads of"
        return _say(drawing, f"{each} keys and values", y)
    if queries is None:
        queries = getattr(mixer, "num_value_heads", None)
    growing = [part for part in mixer.keeps() if part.tokens == 1 and part.beyond is None]
    if queries is None:
        return y
    drawing.bars("query", _PANEL, y, _INSIDE, 18, queries)
    if growing:
        shared_numbers = sum(part.numbers for part in growing if part.what != INDEXER_KEYS)
        drawing.rect("latent", _PANEL, y + 22, _INSIDE, 10)
        y = _say(drawing, f"{queries} query heads", y + 46)
        return _say(drawing, f"share {shared_numbers:,} numbers a token", y)
    drawing.bars("state", _PANEL, y + 21, _INSIDE, 12, queries)
    return _say(drawing, f"{queries} heads, a state each", y + 47)


def _say(drawing: Drawing, words: str, y: float) -> float:
    for line in _lines(words):
        drawing.text("small", _PANEL, y, line)
        y += _LINE
    return y


def _positions(drawing: Drawing, mixers: list[Any], words: str, y: float) -> float:
    """Draw a head as a bar of which a part is rotated, and say so."""
    those = [mixer for mixer in mixers if position_words(mixer) == words]
    of, mixer = len(those), those[0]
    width = getattr(mixer, "head_dim", None)
    if width is not None:
        width += getattr(mixer, "rotary_dim", 0)
    rotary = getattr(mixer, "rotary", None)
    if width is not None:
        drawing.rect("still", _PANEL, y - 8, _INSIDE, 7)
        if rotary is not None:
            part = _INSIDE * min(1.0, rotary.width / width)
            drawing.rect("turned", _PANEL, y - 8, part, 7)
        y += 14
    said = f"positions: {words}" + (f" in {of} layers" if of < len(mixers) else "")
    return _say(drawing, said, y)


def _detail(drawing: Drawing, words: str, y: float) -> float:
    mark = "sink" if "sink" in words else "gate" if "gate" in words else "dot"
    drawing.circle(mark, _PANEL + 4, y - 4, 3.5)
    for line in _lines(words, _LETTERS_A_LINE - 2):
        drawing.text("small", _PANEL + 13, y, line)
        y += _LINE
    return y


# The block


def _skeleton(drawing: Drawing, spec: ModelSpec, height: float) -> None:
    """Draw the residual stream, and what branches off from it: norms, mixer, what computes."""
    # The layer that has most in it.
    layer = max(spec.layers, key=lambda one: (one.mixer is not None, one.feed_forward is not None))
    top, bottom = 20.0, height - 4
    drawing.line("stream", _AXIS, bottom, _AXIS, top)
    drawing.path("arrow", f"M{_AXIS - 4:g} {top + 7:g}l4 -7l4 7")
    drawing.text("small", _AXIS + 10, top + 8, "one layer")
    boxes = [("mixer", words) for words in _mixing(spec)]
    boxes += [("computing", words) for words in _computing(spec)]
    branches = [boxes] if layer.parallel else [[box] for box in boxes]
    room = (bottom - top - 30) / len(branches)
    for place, branch in enumerate(branches):
        _branch(drawing, layer, branch, bottom - 8 - place * room)


def _branch(drawing: Drawing, layer: LayerSpec, boxes: list[tuple[str, str]], y: float) -> None:
    """Draw a branch of the stream from y upward: a norm, what computes, a norm, and the sum.

    Several boxes read the same, and what they give is added.
    """
    drawing.path("wire", f"M{_AXIS:g} {y:g}H{_MIDDLE:g}V{y - _GAP:g}")
    y -= _GAP
    if layer.pre_norm is not None:
        y = _pill(drawing, y, layer.pre_norm)
    for place, (look, words) in enumerate(boxes):
        if place:
            drawing.text("middle", _MIDDLE, y - 4, "+")
            y -= 15
        lines = _lines(words, 15)
        drawing.rect(look, _MIDDLE - _BOX / 2, y - _TALL, _BOX, _TALL)
        for number, line in enumerate(lines):
            down = (number - (len(lines) - 1) / 2) * 14
            drawing.text("middle", _MIDDLE, y - _TALL / 2 + 4 + down, line)
        y -= _TALL
    drawing.line("wire", _MIDDLE, y, _MIDDLE, y - _GAP)
    y -= _GAP
    if layer.post_norm is not None:
        y = _pill(drawing, y, layer.post_norm)
    drawing.line("wire", _MIDDLE, y, _AXIS + 7, y)
    drawing.circle("sum", _AXIS, y, 7)
    drawing.path("arrow", f"M{_AXIS - 4:g} {y:g}h8M{_AXIS:g} {y - 4:g}v8")


def _pill(drawing: Drawing, y: float, norm: NormSpec) -> float:
    """Draw a norm, and the wire that leads on; return where it ends."""
    drawing.rect("norm", _MIDDLE - _BOX / 2, y - _PILL, _BOX, _PILL)
    words = "LayerNorm" if norm.centred else "RMS norm"
    drawing.text("middle", _MIDDLE, y - _PILL / 2 + 4, words)
    drawing.line("wire", _MIDDLE, y - _PILL, _MIDDLE, y - _PILL - _GAP)
    return y - _PILL - _GAP


_PILL, _TALL, _GAP = 18.0, 44.0, 9.0


def _mixing(spec: ModelSpec) -> list[str]:
    """Return what the box of the mixers is called; none where no layer has one."""
    kinds = {kind_of(layer).reach for layer in spec.layers} - {"none"}
    if not kinds:
        return []
    if kinds <= {"state", "short"}:
        return ["state"]
    if kinds & {"state", "short"}:
        return ["state or attention"]
    return ["latent attention" if kinds == {"latent"} else "attention"]


def _computing(spec: ModelSpec) -> list[str]:
    """Return what the box of the last feed-forward layer is called; none where there is none."""
    found = [layer.feed_forward for layer in spec.layers if layer.feed_forward is not None]
    if not found:
        return []
    part = found[-1]
    if isinstance(part, ExpertsSpec):
        return [f"{part.experts_per_token} of {part.num_experts} experts"]
    return ["feed-forward"]


def legend(spec: ModelSpec) -> str:
    """Say what a drawing shows, for those who do not see it."""
    kinds = [kind_of(layer) for layer in spec.layers]
    runs = [(kind, len(list(group))) for kind, group in groupby(kinds)]
    said = ", ".join(dict.fromkeys(f"{kind.many}: {REACHES[kind.reach]}" for kind, _ in runs))
    return f"{len(kinds)} layers along the depth of the model, one layer, and its mixers. {said}."
