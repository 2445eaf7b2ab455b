"""A translator that runs in the reader's browser: type a sentence, and see where it looks."""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bookkit.data.grammar.reading import read
from bookkit.data.grammar.render import render
from bookkit.playables.playable import Playable, playable

FOLDER = Path(__file__).with_name("static") / "translator"
"""Where the files lie that a page fetches; the site has them in `_static/translator`."""

FILES = {
    "with": "with-attention.safetensors",
    "without": "without-attention.safetensors",
    "sentences": "sentences.tsv",
}
"""What a page fetches: two translators, and sentences with their right translations."""

BANDS = ((2, 5), (6, 10), (11, 14), (15, 20))
"""Lengths, in English words, by which the sentences are counted; training ended at 14."""

RUNNING = ("she", "works", "in", "the", "new", "house")
"""The running sentence of the book."""


def live_translator(sentence: Sequence[str] = RUNNING, *, embedded: bool = False) -> Playable:
    """Show a translator that the reader's browser runs, with ribbons to where it looks.

    Without scripts it shows one sentence, and a slider writes its translation word by word. A
    button says how large the weights are and fetches them from the site. Then the reader can type
    sentences, change the weights of the attention, and compare with a translator without any.

    Args:
        sentence: the English words that are translated at first, all of them known to the
            translator.
        embedded: put the weights into the output itself, 600 KB of text, instead of fetching
            them: for a notebook, around which there is no site.

    >>> live_translator().data["written"]
    ['ella', 'trabaja', 'en', 'la', 'casa', 'nueva']
    """
    from bookkit.playables.weights import read_about

    words, about = list(sentence), read_about(FOLDER / FILES["with"])
    _check_known(sentence, about["source"])
    written, weights = _translated(words)
    meanings = dict(zip(about["target"], about["gloss"], strict=True))
    parsed = read(words)
    return playable(
        "translator",
        "A translator in the page",
        caption=_CAPTION,
        words=words,
        written=written,
        rows=weights,
        # The grammar's own translation; None for a sentence that it cannot say.
        right=None if parsed is None else list(render(parsed).target),
        gloss={word: meanings.get(word, "") for word in written},
        bands=BANDS,
        files={name: _file(name, embedded) for name in FILES},
    )


_CAPTION = (
    "English above, Spanish below. The thicker a ribbon, the more the translator looks at that "
    "English word while it writes the Spanish one."
)


def _check_known(sentence: Sequence[str], vocabulary: Sequence[str]) -> None:
    if isinstance(sentence, str):
        raise TypeError(f"sentence: got the string {sentence!r}, wanted a sequence of words")
    if not sentence:
        raise ValueError("sentence: got no words, wanted at least one")
    for word in sentence:
        if word not in vocabulary:
            raise ValueError(
                f"sentence: got {word!r}, wanted words that the translator knows, as "
                f"{', '.join(vocabulary[:5])}"
            )


def _translated(words: Sequence[str]) -> tuple[list[str], NDArray[np.float64]]:
    """Translate in float64, so that no processor rounds the weights otherwise."""
    from bookkit.playables.weights import load_translator

    translator = load_translator(FOLDER / FILES["with"])
    translator.model.double()  # type: ignore[attr-defined]
    (translation,) = translator.translate([words])
    assert translation.weights is not None
    return list(translation.tokens), translation.weights.numpy()


def _file(name: str, embedded: bool) -> dict[str, Any]:
    """Say where a page finds a file, how large it is, and which version of it is meant."""
    content = (FOLDER / FILES[name]).read_bytes()
    if embedded:
        return {"base64": base64.b64encode(content).decode("ascii"), "bytes": len(content)}
    digest = hashlib.sha256(content).hexdigest()[:10]
    return {"address": f"translator/{FILES[name]}?v={digest}", "bytes": len(content)}
