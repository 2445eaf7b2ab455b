"""A text whose words say where they come from: copied from a source, or generated."""

from collections.abc import Sequence
from html import escape
from typing import Any

from bookkit.inputs import as_labels, as_vector

# The line below tells copied words from others without colour; both colours show on black as well.
_COPIED = (
    "font-weight:700;color:var(--am-petrol,#2f8593);text-decoration:underline;"
    "text-decoration-thickness:2px;text-underline-offset:.22em"
)
_UNSURE = (
    "color:var(--am-gold,#a87b0a);text-decoration:underline dotted;"
    "text-decoration-thickness:2px;text-underline-offset:.22em"
)
_BOX = "max-width:36rem;margin:1rem 0;line-height:1.9;overflow-wrap:anywhere"
_SURE = 0.9


class WrittenText:
    """Words, and how much of each was copied; a notebook cell that ends with it shows the text.

    Attributes:
        words: the text.
        shares: for every word, from 0, generated, to 1, copied.
        title: what stands before it.
    """

    def __init__(self, words: Sequence[str], shares: Sequence[float], title: str) -> None:
        self.words, self.shares, self.title = tuple(words), tuple(shares), title

    def __repr__(self) -> str:
        """Copied words in [brackets], those of which less than 0.9 is either in (parentheses)."""
        marks = {"copied": "[{}]", "both": "({})", "generated": "{}"}
        said = (marks[_kind(share)].format(word) for word, share in self._pairs())
        return f"{self.title}: {' '.join(said)}"

    def _repr_html_(self) -> str:
        styles = {"copied": _COPIED, "both": _UNSURE, "generated": ""}
        said = []
        for word, share in self._pairs():
            kind = _kind(share)
            style = f' style="{styles[kind]}"' if styles[kind] else ""
            said.append(f'<span title="{kind}, copied {share:.2f}"{style}>{escape(word)}</span>')
        return f'<p style="{_BOX}"><strong>{escape(self.title)}</strong><br>{" ".join(said)}</p>'

    def _pairs(self) -> list[tuple[str, float]]:
        return list(zip(self.words, self.shares, strict=True))


def written_text(words: Sequence[str], shares: Any, *, title: str) -> WrittenText:
    """Show a text: copied words underlined and in colour, generated ones plain.

    A word of which less than 0.9 was copied and less than 0.9 generated has a dotted line.

    Args:
        words: the text, at least one word.
        shares: (n,) how much of each word was copied, from 0 to 1.
        title: what the text is.

    Raises:
        TypeError: `shares` holds no numbers.
        ValueError: not one share a word, or one outside of 0 to 1.

    >>> written_text(["toral", "beat", "mikuno"], [1.0, 0.0, 0.95], title="Summary")
    Summary: [toral] beat [mikuno]
    """
    given = as_vector(shares, "shares")
    labels = as_labels(words, "words", given.size, "share")
    if not ((given >= 0) & (given <= 1)).all():
        raise ValueError(f"shares: got {given.tolist()}, wanted numbers from 0 to 1")
    return WrittenText(labels, given.tolist(), title)


def _kind(share: float) -> str:
    return "copied" if share >= _SURE else "generated" if share <= 1 - _SURE else "both"
