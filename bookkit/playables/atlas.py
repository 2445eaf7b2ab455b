"""The atlas of today's attention: ten published models, and every checked architecture."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from bookkit.atlas.block import draw_block, legend, letters_of
from bookkit.atlas.history import Model, history
from bookkit.atlas.kinds import kind_of
from bookkit.atlas.rows import SAME, Atlas, AtlasRow, Parity, load_atlas
from bookkit.atlas.unusual import unusual
from bookkit.atlas.words import ITEMSIZE, LENGTH, MARKS, Facts, describe, in_bytes
from bookkit.playables.playable import Playable, playable, style_in_place
from companion.models.atlas import LayerSpec
from companion.models.atlas.kept import Kept

HUB = "https://huggingface.co/"
"""Where the repositories of published models are."""

LENGTHS = tuple(2**power for power in range(7, 21))
"""The lengths of a text that a reader can choose, in tokens."""

KINDS: Mapping[str, str] = {
    "keys": "keys and values of every token",
    "window": "the last tokens, in windows",
    "latent": "a short vector a token",
    "pooled": "one vector for several tokens",
    "state": "a state of fixed size",
}
"""What a part of a cache is, by how it grows."""


def atlas_models(*, caption: str = "") -> Playable:
    """Show what the models of the lesson keep of a text, whose length the reader chooses.

    >>> atlas_models()
    What ten published models keep: a drawing to play with.
    """
    return playable(
        "atlas-models",
        "What ten published models keep",
        caption=caption,
        kinds=list(KINDS.items()),
        hub=HUB,
        lengths=LENGTHS,
        length=LENGTHS.index(LENGTH),
        models=[_model(one) for one in history().values()],
    )


def _model(model: Model) -> dict[str, Any]:
    layers = model.spec.layers
    parts = Counter((_kind(layer, part), part) for layer in layers for part in layer.keeps())
    facts, drawing = describe(model.spec), draw_block(model.spec).plain()
    said = {"pattern": facts.pattern, "alt": legend(model.spec)} | drawing
    if model.learned:  # its specification has no positions at all
        words = json.dumps(said).replace("positions: NoPE", "positions: learned")
        said = json.loads(words.replace(" NoPE", ""))
    full = " once the windows are full" if "sliding window" in facts.marks else ""
    return said | {
        "name": model.name,
        "date": model.date,
        "weights": model.weights,
        "context": model.context,
        "paper": model.paper,
        "url": model.url,
        "file": model.file,
        "words": model.words,
        "layers": letters_of(model.spec),
        "grows": f"Every further token adds {ITEMSIZE * facts.token:,} bytes{full}.",
        "parts": [
            [kind, n, part.numbers, part.tokens, part.limit, part.itemsize, part.beyond]
            for (kind, part), n in parts.items()
        ],
    }  # fmt: skip


def _kind(layer: LayerSpec, part: Kept) -> int:
    """Return which of `KINDS` a part is."""
    if part.tokens is None or kind_of(layer).reach in ("state", "short"):
        kind = "state"
    elif part.limit is not None or part.beyond is not None:
        kind = "window"
    elif part.tokens > 1:
        kind = "pooled"
    else:
        kind = "latent" if kind_of(layer).reach == "latent" else "keys"
    return list(KINDS).index(kind)


def atlas_table(atlas: Atlas | None = None, *, caption: str = "") -> Playable:
    """Show every architecture as a tile and as a row, to find and to sort, which opens.

    Without scripts the table is whole, and rows do not open.

    >>> atlas_table()
    The atlas as a table: a drawing to play with.
    """
    atlas = load_atlas() if atlas is None else atlas
    rows = [(row, describe(row.spec)) for row in atlas.rows]
    return playable(
        "atlas",
        "The atlas as a table",
        caption=caption,
        marks=[mark for mark in MARKS if any(mark in facts.marks for _, facts in rows)],
        hub=HUB,
        library=atlas.address(rows[0][0]).partition("transformers/models")[0],
        rows=[_row(row, facts) for row, facts in rows],
    )


class AtlasDrawing:
    """The drawing of one architecture; a notebook cell that ends with it shows it."""

    def __init__(self, row: AtlasRow, caption: str = "") -> None:
        self.row, self.caption = row, caption

    def __repr__(self) -> str:
        return f"{self.row.name}. {legend(self.row.spec)}"

    def _repr_html_(self) -> str:
        svg = draw_block(self.row.spec).svg(legend(self.row.spec))
        svg = svg.replace("<svg ", '<svg class="am-atlas-drawing" ', 1)
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        return f'<figure class="am-play">{style_in_place("atlas")}{svg}{caption}</figure>'


def atlas_drawing(model_type: str, *, caption: str = "") -> AtlasDrawing:
    """Return the drawing of one architecture of the atlas.

    Raises:
        KeyError: there is none of this name.

    >>> str(atlas_drawing("gpt_oss")).partition(".")[0]
    'GptOss'
    """
    return AtlasDrawing(load_atlas().row(model_type), caption)


def _row(row: AtlasRow, facts: Facts) -> dict[str, Any]:
    """Return what a row says, and what it opens into."""
    return {
        "type": row.model_type,
        "name": row.name,
        "year": row.published.year,
        "sizes": "toy" if row.toy_size else row.published.model or "default",
        "layers": letters_of(row.spec),
        "pattern": facts.pattern,
        "heads": facts.heads,
        "positions": facts.positions,
        "marks": facts.marks,
        "keeps": "(toy size)" if row.toy_size else in_bytes(facts.bytes),
        "bytes": 0 if row.toy_size else facts.bytes,
        **draw_block(row.spec).plain(),
        "alt": legend(row.spec),
        "unusual": unusual(row),
        "facts": [_TOY] * row.toy_size + list(_told(facts)),
        "file": row.published.file,
        "parity": [f"Layers at toy size: {row.checked}.", *parity_words(row.parity)],
        "path": row.path,
        "of": row.checkpoint,
    }


_TOY = (
    "The default configuration of its class makes no model, so the numbers here are those of the"
    " small one that was checked."
)


def _told(facts: Facts) -> Iterable[str]:
    """Yield what a row says when it is open, beside its drawing."""
    yield f"At every position: {facts.feed_forward}. Norms: {facts.norms}."
    grows = f"adds {ITEMSIZE * facts.token:,} bytes" if facts.token else "adds nothing"
    full = ", once the windows are full," if "sliding window" in facts.marks else ""
    state = f" Its states have {facts.fixed:,} numbers and do not grow." if facts.fixed else ""
    yield (
        f"Of a text of {LENGTH:,} tokens it keeps {in_bytes(facts.bytes)} at {ITEMSIZE} bytes a"
        f" number. Every further token{full} {grows}.{state}"
    )


def parity_words(parity: Parity) -> Iterable[str]:
    """Yield sentences on how an architecture compares with its reference.

    >>> from bookkit.atlas.rows import load_atlas
    >>> sentences = list(parity_words(load_atlas().row("llama").parity))
    >>> sentences[0].partition(" to 1 part in ")[0]
    'At toy size its logits equal those of the reference'
    """
    yield (
        "At toy size its logits equal those of the reference"
        f" to {one_part_in(parity.difference, parity.size)}."
    )
    if parity.cached <= SAME:
        yield "Reading with a cache gives the same as reading at once."
    else:
        yield f"With a cache its logits differ by up to {parity.cached:g}."
    if parity.reference_cached > SAME:
        yield (
            "The reference differs from itself: with its cache its logits are up to"
            f" {parity.reference_cached:g} away from those without."
        )
    if parity.reference_leak > SAME:
        yield (
            "In the reference a change of later tokens moves earlier logits by up to"
            f" {parity.reference_leak:g}."
        )
    if parity.bytes == parity.reference_bytes:
        yield f"Both caches hold the same {parity.bytes:,} bytes."
    else:
        yield (
            f"Our cache holds {parity.bytes:,} bytes, and that of the reference"
            f" {parity.reference_bytes:,}."
        )


def one_part_in(difference: float, size: float) -> str:
    """Say how small a difference is beside a size.

    >>> one_part_in(5e-06, 3.0), one_part_in(0.0, 3.0)
    ('1 part in 600,000', 'the last digit')
    """
    if difference == 0:
        return "the last digit"
    parts = size / difference
    digits = 10 ** (len(str(int(parts))) - 1)
    return f"1 part in {int(parts // digits * digits):,}"
