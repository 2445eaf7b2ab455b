"""Sentences of another language with the English word under each word, for those without it."""

from dataclasses import dataclass
from html import escape

# Inside :where() nothing outweighs the book's own style sheet; without one, these speak.
_STYLE = (
    ":where(.am-gloss){margin:1rem 0;line-height:2.6}"
    ":where(.am-gloss ruby){ruby-position:under;margin-inline-end:.5em}"
    ":where(.am-gloss rt){font-size:.8em}"
    ":where(.am-gloss-free){display:block;line-height:1.5}"
)


@dataclass(frozen=True, repr=False)
class Gloss:
    """A sentence and what each of its words means, as HTML or text."""

    words: tuple[str, ...]  # of the sentence
    # The English for each word; several English words are joined by hyphens
    glosses: tuple[str, ...]
    translation: str = ""  # the sentence in good English; "" leaves it out
    language: str = "es"  # the language of the sentence, as HTML names it

    def __post_init__(self) -> None:
        if len(self.words) != len(self.glosses) or not self.words:
            raise ValueError(
                f"glosses: got {len(self.glosses)} for {len(self.words)} words, wanted one for "
                "each; join several English words by hyphens"
            )

    def __repr__(self) -> str:
        widths = [max(map(len, pair)) for pair in zip(self.words, self.glosses, strict=True)]
        lines = [
            "  ".join(map(str.ljust, line, widths)).rstrip() for line in (self.words, self.glosses)
        ]
        return "\n".join([*lines, *([f"“{self.translation}”"] if self.translation else [])])

    def _repr_html_(self) -> str:
        return f"<style>{_STYLE}</style>{self.html()}"

    def html(self) -> str:
        """Return it as HTML that takes its style from the page.

        The English word is a ruby text, which screen readers read after the word that it belongs
        to, and which stands in brackets where a browser knows no ruby.
        """
        pairs = zip(map(escape, self.words), map(escape, self.glosses), strict=True)
        words = " ".join(
            f'<ruby>{word}<rp> (</rp><rt lang="en">{gloss}</rt><rp>)</rp></ruby>'
            for word, gloss in pairs
        )
        free = f'<span class="am-gloss-free">“{escape(self.translation)}”</span>'
        return (
            f'<div class="am-gloss"><span lang="{escape(self.language)}">{words}</span>'
            f"{free if self.translation else ''}</div>"
        )


def gloss(sentence: str, glosses: str, translation: str = "", *, language: str = "es") -> Gloss:
    """Show a sentence with the English word under each word.

    Args:
        sentence: its words, with spaces between them.
        glosses: the English for each word, with spaces between them; where one word means
            several, hyphens join these.
        translation: the sentence in good English.
        language: the language of the sentence, as HTML names it.

    >>> gloss("la casa nueva", "the house new", "the new house")
    la   casa   nueva
    the  house  new
    “the new house”
    """
    return Gloss(tuple(sentence.split()), tuple(glosses.split()), translation, language)
