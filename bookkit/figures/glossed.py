"""Sentences in a foreign language with an English gloss under every word."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from html import escape

from bookkit.inputs import as_labels

_COLUMNS = 70  # of the text, indented by two
# Inside :where() nothing outweighs the style of the page; where it has none, these speak.
_STYLE = (
    ":where(.am-glossed){max-width:44rem;margin:1rem 0;line-height:1.35}"
    ":where(.am-glossed p){margin:0 0 .7rem}"
    ":where(.am-glossed-title){display:block;font-size:.875em;color:var(--am-muted,inherit)}"
    ":where(.am-glossed-word){display:inline-block;vertical-align:top;margin:0 .55em .15em 0}"
    ":where(.am-glossed-word>*){display:block}"
    ":where(.am-glossed b){font-weight:700}"
    ":where(.am-glossed small){font-size:.875em;color:var(--am-muted,inherit)}"
    ":where(.am-glossed-wrong b){color:var(--am-wine,#b8385f);text-decoration:underline wavy;"
    "text-decoration-thickness:1.5px;text-underline-offset:.2em}"
)


@dataclass(frozen=True)
class GlossedLine:
    """One sentence."""

    title: str  # what stands above it
    words: tuple[str, ...]  # the sentence
    glosses: tuple[str, ...] = ()  # one a word; empty for an English sentence, which needs none
    # The positions of words that a right sentence does not have there
    wrong: frozenset[int] = frozenset()


class GlossedText:
    """Sentences with their glosses; a notebook cell that ends with one shows them."""

    def __init__(self, lines: Sequence[GlossedLine]) -> None:
        self.lines = tuple(lines)

    def __repr__(self) -> str:
        """Words above glosses, in columns; a wrong word stands between asterisks."""
        return "\n".join(row for line in self.lines for row in _rows(line))

    def _repr_html_(self) -> str:
        lines = "".join(
            f'<p><span class="am-glossed-title">{escape(line.title)}</span>{_words(line)}</p>'
            for line in self.lines
        )
        return f'<div class="am-glossed"><style>{_STYLE}</style>{lines}</div>'


def glossed_text(
    *lines: tuple[str, Sequence[str]] | tuple[str, Sequence[str], Sequence[str]],
    right: Sequence[str] = (),
) -> GlossedText:
    """Show sentences with an English gloss under every word that is not English.

    Args:
        lines: for every sentence its title and its words; and, unless it is English, its glosses,
            as `bookkit.data.grammar.english_glosses` gives them.
        right: the right translation. In sentences with glosses, words outside of the longest
            stretches that they share with it are underlined.

    >>> glossed_text(("English", ["new", "house"]),
    ...              ("Spanish", ["casa", "roja"], ["house", "red"]), right=["casa", "nueva"])
    English
      new  house
    Spanish
      casa   *roja*
      house  red
    """
    if not lines:
        raise ValueError("lines: got none, wanted at least one sentence")
    made = []
    for title, words, *glosses in lines:
        said = as_labels(glosses[0], f"glosses of {title!r}", len(words), "word") if glosses else ()
        wrong = _differing(words, right) if glosses and right else frozenset[int]()
        made.append(GlossedLine(title, tuple(words), tuple(said), wrong))
    return GlossedText(made)


def _differing(words: Sequence[str], right: Sequence[str]) -> frozenset[int]:
    """Return the positions of words that are not part of the right sentence, in its order."""
    blocks = SequenceMatcher(None, words, right, autojunk=False).get_matching_blocks()
    shared = {block.a + step for block in blocks for step in range(block.size)}
    return frozenset(range(len(words))) - shared


def _words(line: GlossedLine) -> str:
    if not line.glosses:
        return escape(" ".join(line.words))
    return " ".join(
        f'<span class="am-glossed-word{" am-glossed-wrong" if position in line.wrong else ""}">'
        f'<b lang="es">{escape(word)}</b><small>{escape(said)}</small></span>'
        for position, (word, said) in enumerate(zip(line.words, line.glosses, strict=True))
    )


def _rows(line: GlossedLine) -> Iterator[str]:
    yield line.title
    above = [f"*{word}*" if at in line.wrong else word for at, word in enumerate(line.words)]
    below = line.glosses or ("",) * len(above)
    widths = [max(len(word), len(said)) for word, said in zip(above, below, strict=True)]
    for first, stop in _wrapped(widths):
        for cells in (above, below) if line.glosses else (above,):
            columns = zip(cells[first:stop], widths[first:stop], strict=True)
            yield "  " + "  ".join(word.ljust(width) for word, width in columns).rstrip()


def _wrapped(widths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield first and stop of every row that fits into the columns."""
    first, room = 0, _COLUMNS
    for position, width in enumerate(widths):
        if position > first and width > room:
            yield first, position
            first, room = position, _COLUMNS
        room -= width + 2
    yield first, len(widths)
