"""The atlas of today's attention: what came when, and every architecture as a row that opens."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from bookkit.atlas.block import draw_block, legend, letters_of
from bookkit.atlas.census import PLAIN, WORDS
from bookkit.atlas.kinds import Reach
from bookkit.atlas.rows import SAME, Atlas, AtlasRow, Parity, load_atlas
from bookkit.atlas.shapes import STRIPES
from bookkit.atlas.unusual import unusual
from bookkit.atlas.words import ITEMSIZE, LENGTH, Facts, describe, in_bytes
from bookkit.playables.playable import Playable, playable, style_in_place


def atlas_census(atlas: Atlas | None = None, *, caption: str = "") -> Playable:
    """Show the architectures by year; the reader picks what some of them have.

    Without scripts it shows all names, and `census` has the numbers.

    >>> atlas_census()
    The architectures of the atlas by year: a drawing to play with.
    """
    atlas = load_atlas() if atlas is None else atlas
    rows = [(row, describe(row.spec)) for row in atlas.rows]
    return playable(
        "census",
        "The architectures of the atlas by year",
        caption=caption,
        marks=[(word, WORDS[word]) for word in (PLAIN, *_present(rows))],
        rows=[
            {
                "name": row.name,
                "year": row.year,
                "marks": facts.marks or (PLAIN,),
                "pattern": facts.pattern,
                "layers": letters_of(row.spec),
            }
            for row, facts in rows
        ],
    )


def _present(rows: Sequence[tuple[AtlasRow, Facts]]) -> list[str]:
    """Return the marks that some architecture has."""
    there = {mark for _, facts in rows for mark in facts.marks}
    return [mark for mark in WORDS if mark in there]


def atlas_table(atlas: Atlas | None = None, *, caption: str = "") -> Playable:
    """Show every architecture as a row to filter and to sort, which opens into its drawing.

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
        marks=_present(rows),
        plain=PLAIN,
        library=atlas.address(rows[0][0]).partition("transformers/models")[0],
        code="#the-code-of-the-mixers",
        rows=[_row(row, facts) for row, facts in rows],
    )


class AtlasWords:
    """What each counted word means; a notebook cell that ends with it shows the list."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)

    def __repr__(self) -> str:
        return "\n".join(f"{word}: {WORDS[word]}" for word in self.words)

    def _repr_html_(self) -> str:
        lines = "".join(
            f"<div><dt>{_bar(_DRAWN.get(word))}{escape(word)}</dt>"
            f"<dd>{escape(WORDS[word])}</dd></div>"
            for word in self.words
        )
        return (
            f'<div class="am-play">{style_in_place("atlas")}'
            f'<dl class="am-atlas-terms">{lines}</dl></div>'
        )


_DRAWN: Mapping[str, Reach] = {
    PLAIN: "full",
    "window": "window",
    "latent": "latent",
    "index": "indexed",
    "pooled": "full",
    "state": "state",
    "convolution": "short",
}
"""As what a word is drawn that says what a layer reaches."""


def _bar(reach: Reach | None) -> str:
    """Draw a layer as a drawing does; an empty place where there is nothing to draw."""
    parts = dict(STRIPES.values())
    path = (
        ""
        if reach is None
        else f'<path class="am-atlas-reach am-atlas-{reach}" d="M0 4h{34 * parts[reach]:.0f}"/>'
    )
    return f'<svg class="am-atlas-bar" viewBox="0 0 34 8" aria-hidden="true">{path}</svg>'


def atlas_words() -> AtlasWords:
    """Return what the words mean that tell architectures apart, each with the bar of its layers.

    >>> str(atlas_words()).partition(":")[0]
    'nothing'
    """
    rows = [(row, describe(row.spec)) for row in load_atlas().rows]
    return AtlasWords((PLAIN, *_present(rows)))


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
        "year": row.year,
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
        "parity": list(parity_words(row.parity)),
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
    grows = f"{facts.token:,} numbers for every further token" if facts.token else "nothing more"
    state = f", and {facts.fixed:,} numbers of states that do not grow" if facts.fixed else ""
    yield (
        f"Of a text of {LENGTH:,} tokens it keeps {in_bytes(facts.bytes)} at {ITEMSIZE} bytes a"
        f" number. Beyond its windows it keeps {grows}{state}."
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
