"""A translator of real sentences that runs in the reader's browser, in word pieces."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bookkit.playables.playable import Playable, fetched, playable
from bookkit.playables.translator import FOLDER

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from companion.translation import Translator

FILE = FOLDER / "real-sentences.safetensors"
"""The weights, in eight bits, with the pieces and what made it."""

CREDIT = "Sentences: Tatoeba (tatoeba.org) by way of manythings.org/anki, CC BY 2.0 FR, filtered."

LONGEST = {"pieces": 60, "words": 24}
"""Pieces that a sentence may have, and words of the longest sentence in training."""

EXAMPLES = {
    "a question": (
        "Where did you buy that red umbrella?",
        "English has no sign like the one with which a Spanish question begins.",
    ),
    "a negation": (
        "I do not know your brother.",
        "Spanish needs no word for “do”, and seldom one for “I”.",
    ),
    "a crossing": (
        "She bought a white house last year.",
        "In Spanish most adjectives follow their noun. Do two of the ribbons cross?",
    ),
    "a name": (
        "Zbigniew lives in Boston.",
        "A name that it has never read is made of small pieces. Can it copy them one by one?",
    ),
    "a rare word": (
        "The walrus is sleeping.",
        "No sentence of its training has this animal, but it cannot decline to answer.",
    ),
    "a long sentence": (
        "When I was a child, my grandmother told me that I should not talk to strangers.",
        "Read the Spanish from the end: at which piece does it lose the thread, if it does?",
    ),
}
"""Sentences to try: what a button calls each, the sentence, and what to look for.

None of them is in the training, and each remark is true whatever the translator writes.
"""


def real_translator(*, embedded: bool = False) -> Playable:
    """Show a translator of real sentences that the reader's browser runs, and where it looks.

    At first it has six sentences, and a slider writes a translation piece by piece. A button says
    how large the weights are and fetches them from the site. Then the reader can type any
    sentence, see its pieces, and change the weights of the attention.

    Args:
        embedded: put the weights into the output itself, 3.6 MB of text, instead of fetching
            them: for a notebook, around which there is no site.

    >>> real_translator().data["examples"][0]["words"]
    ['▁Where', '▁did', '▁you', '▁buy', '▁that', '▁red', '▁umbrella', '?']
    """
    return playable(
        "real-translator",
        "A translator of real sentences",
        caption=_CAPTION,
        examples=_examples(),
        longest=LONGEST,
        file=fetched(FILE, embedded),
    )


_CAPTION = (
    "English above, Spanish below, both in word pieces. The thicker a ribbon, the more the "
    "translator looks at that English piece while it writes the Spanish one: the mean of five "
    f"heads in one of its blocks. {CREDIT}"
)


def load_real_translator(path: Path = FILE) -> "tuple[Translator, Tokenizer]":
    """Return the translator of pieces, and what cuts a sentence into them.

    >>> translator, pieces = load_real_translator()
    >>> said = translator.translate([pieces.encode("Where is my book?").tokens])[0]
    >>> "".join(said.tokens)
    '▁¿Dónde▁está▁mi▁libro?'
    """
    from bookkit.data.pieces import word_pieces
    from bookkit.playables.weights import load_translator, read_about
    from companion.data.vocabulary import SPECIAL

    about = read_about(path)
    ids = {piece: number for number, piece in enumerate((*SPECIAL, *about["target"]))}
    merges = [tuple(pair.split(" ")) for pair in about["merges"]]
    return load_translator(path), word_pieces(ids, merges)


@cache
def _examples() -> list[dict[str, Any]]:
    """Translate in float64, so that no processor rounds the weights otherwise."""
    translator, pieces = load_real_translator()
    translator.model.double()  # type: ignore[attr-defined]
    english = [pieces.encode(sentence).tokens for sentence, _ in EXAMPLES.values()]
    return [
        {
            "name": name, "words": words, "remark": EXAMPLES[name][1],
            "written": list(said.tokens), "rows": said.weights.numpy().round(4),  # type: ignore[union-attr]
        }
        for name, words, said in zip(
            EXAMPLES, english, translator.translate(english), strict=True
        )
    ]  # fmt: skip
