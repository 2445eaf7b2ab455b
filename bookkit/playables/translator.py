"""A translator that runs in the reader's browser: type a sentence, and see where it looks."""

from functools import cache
from pathlib import Path
from typing import Any

from bookkit.data.grammar.reading import read
from bookkit.data.grammar.render import render
from bookkit.playables.playable import Playable, fetched, playable

FOLDER = Path(__file__).with_name("static") / "translator"
"""Where the files lie that a page fetches; the site has them in `_static/translator`."""

FILES = {
    "with": "with-attention.safetensors",
    "without": "without-attention.safetensors",
    "sentences": "sentences.tsv",
    "followers": "followers.json",
}
"""What a page fetches: two translators, sentences with their right translations, and for each word
those that came after it in training, the most frequent first; "" is the edge of a sentence."""

LONGEST_READ = 14
"""English words of the longest sentence in training."""

BANDS = ((2, 5), (6, 10), (11, LONGEST_READ), (15, 20))
"""Lengths, in English words, by which the sentences are counted."""

EXAMPLES = {
    "a crossing": (
        "she works in the new house",
        "In Spanish the adjective follows its noun, so two ribbons cross.",
    ),
    "a new pair": (
        "the young man sees the red car",
        "It has never read “young man”, and yet it knows which word comes first.",
    ),
    "a negation": (
        "he does not listen to the queen",
        "No Spanish word stands for “does”, so only a thin ribbon begins there.",
    ),
    "too long": (
        "i did not see the city yesterday and my brother is old and she finds the flowers and a "
        "horse listens to this girl",
        "It has never read more than 14 words. Here it forgets that she finds the flowers.",
    ),
    "no such sentence": (
        "the cat eats",
        "In everything it has read, whoever eats has something to eat. It has to say something, "
        "so it makes up “his garden”.",
    ),
}
"""Sentences to try: what a button calls each, the sentence, and what is to be seen in it."""


def live_translator(*, embedded: bool = False) -> Playable:
    """Show a translator that the reader's browser runs, with ribbons to where it looks.

    At first it has five sentences, and a slider writes a translation word by word. A button says
    how large the weights are and fetches them from the site. Then the reader can type sentences,
    change the weights of the attention, and compare with a translator without any.

    Args:
        embedded: put the weights into the output itself, 600 KB of text, instead of fetching
            them: for a notebook, around which there is no site.

    >>> live_translator().data["examples"][0]["written"]
    ['ella', 'trabaja', 'en', 'la', 'casa', 'nueva']
    """
    from bookkit.playables.weights import read_about

    about = read_about(FOLDER / FILES["with"])
    meanings = dict(zip(about["target"], about["gloss"], strict=True))
    examples = _examples()
    spoken = [word for one in examples for word in (*one["written"], *(one["right"] or ()))]
    return playable(
        "translator",
        "A translator in the page",
        caption=_CAPTION,
        examples=examples,
        gloss={word: meanings.get(word, "") for word in spoken},
        vocabulary=sorted(about["source"]),
        longest=LONGEST_READ,
        bands=BANDS,
        files={name: fetched(FOLDER / FILES[name], embedded) for name in FILES},
    )


_CAPTION = (
    "English above, Spanish below. The thicker a ribbon, the more the translator looks at that "
    "English word while it writes the Spanish one."
)


@cache
def _examples() -> list[dict[str, Any]]:
    """Translate in float64, so that no processor rounds the weights otherwise."""
    from bookkit.playables.weights import load_translator

    translator = load_translator(FOLDER / FILES["with"])
    translator.model.double()  # type: ignore[attr-defined]
    english = [sentence.split() for sentence, _ in EXAMPLES.values()]
    found = []
    for name, words, said in zip(EXAMPLES, english, translator.translate(english), strict=True):
        parsed = read(words)  # None if the grammar cannot say it
        right = None if parsed is None else list(render(parsed).target)
        found.append({
            "name": name, "words": words, "remark": EXAMPLES[name][1], "right": right,
            "written": list(said.tokens), "rows": said.weights.numpy().round(4),
        })  # fmt: skip
    return found
