"""A network that learned a phrase book by heart, beside a finger that looks a phrase up in it."""

from typing import Any

from bookkit.playables.playable import FOLDER as PLAYABLES
from bookkit.playables.playable import Playable, fetched, playable
from companion.data.pairs import characters

FOLDER = PLAYABLES / "static" / "phrases"
"""Where the networks lie; the site has them in `_static/phrases`."""

FILES = {"true": "true.safetensors", "shuffled": "shuffled.safetensors"}
"""The network that learned the phrase book, and the one that learned it with wrong translations."""

LONGEST = 30
"""Letters after which a translation is cut, as in the study; the longest of the book has 24."""

EXAMPLES = ("hello", "good night", "close the window", "i want to sleep", "good evening")
"""Phrases to try: the first two are in the book, the next two were hidden, the last is neither."""


def phrase_finger(*, embedded: bool = False, caption: str = "") -> Playable:
    """Let a reader type a phrase: what the network writes, and the nearest phrase of its book.

    The page fetches the networks after a click; before that it shows what they write for a few.

    Args:
        embedded: put both networks into the output, for a notebook around which there is no site.

    >>> phrase_finger().data["written"][0]["hello"]
    'hola'
    """
    from bookkit.playables.weights import read_about

    about = [read_about(FOLDER / file) for file in FILES.values()]
    return playable(
        "phrase-finger", "A network and a finger in a phrase book", caption=caption,
        english=[english for english, _ in about[0]["learned"]],
        spanish=[[spanish for _, spanish in one["learned"]] for one in about],
        hidden=dict(about[0]["hidden"]), letters="".join(about[0]["source"]),
        written=[_written(file) for file in FILES.values()], longest=LONGEST,
        files=[fetched(FOLDER / file, embedded) for file in FILES.values()],
    )  # fmt: skip


def _written(file: str) -> dict[str, Any]:
    """Translate the examples in float64, so that no processor rounds otherwise."""
    from bookkit.playables.weights import load_translator

    translator = load_translator(FOLDER / file)
    translator.model.double()  # type: ignore[attr-defined]
    said = translator.translate([characters(one) for one in EXAMPLES], max_len=LONGEST)
    return {one: "".join(text.tokens) for one, text in zip(EXAMPLES, said, strict=True)}
