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
    """Words, and how much of each was copied; a notebook cell that ends with it shows the text."""

    def __init__(self, words: Sequence[str], shares: Sequence[float], title: str) -> None:
        self.shared, self.title = list(zip(words, shares, strict=True)), title

    def __repr__(self) -> str:
        """Copied words in [brackets], those of which less than 0.9 is either in (parentheses)."""
        marks = {"copied": "[{}]", "both": "({})", "generated": "{}"}
        said = (marks[_kind(share)].format(word) for word, share in self.shared)
        return f"{self.title}: {' '.join(said)}"

    def _repr_html_(self) -> str:
        styles = {"copied": _COPIED, "both": _UNSURE, "generated": ""}
        said = []
        for word, share in self.shared:
            kind = _kind(share)
            style = f' style="{styles[kind]}"' if styles[kind] else ""
            said.append(f'<span title="{kind}, copied {share:.2f}"{style}>{escape(word)}</span>')
        return f'<p style="{_BOX}"><strong>{escape(self.title)}</strong><br>{" ".join(said)}</p>'


def written_text(words: Sequence[str], shares: Any, *, title: str) -> WrittenText:
    """Show a text: copied words underlined and in colour, generated ones plain.

    A word of which less than 0.9 was copied and less than 0.9 generated has a dotted line.

    Args:
        words: the text, at least one word.
        shares: (n,) how much of each word was copied, from 0 to 1.
        title: what the text is.

    >>> written_text(["toral", "beat", "mikuno"], [1.0, 0.0, 0.95], title="Summary")
    Summary: [toral] beat [mikuno]
    """
    given = as_vector(shares, "shares", within=(0, 1))
    labels = as_labels(words, "words", given.size, "share")
    return WrittenText(labels, given.tolist(), title)


def _kind(share: float) -> str:
    return "copied" if share >= _SURE else "generated" if share <= 1 - _SURE else "both"
