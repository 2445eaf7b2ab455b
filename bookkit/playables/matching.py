"""Texts that a model wrote with mistakes in its attention; the reader says which wrote which."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bookkit.playables.playable import Playable, playable


@dataclass(frozen=True)
class Round:
    """Texts that are shown together, in the order of the mapping."""

    name: str  # what its button says
    question: str  # what the model was asked
    texts: Mapping[str, str]  # each under the name of the mistake that wrote it
    names: Sequence[str]  # of the mistakes to choose from, in the order of their buttons


def match_texts(
    rounds: Sequence[Round], reasons: Mapping[str, str], *, caption: str = ""
) -> Playable:
    """Show one text after the other; the reader picks the mistake that wrote it, and reads why.

    The first pick counts. A mistake that writes the same text is right as well.

    Args:
        rounds: at least one.
        reasons: what is said of a mistake once it was told, by its name.

    >>> one = Round("1", "Who?", {"no mask": "I", "no scale": "no"}, ["no mask", "no scale"])
    >>> match_texts([one], {"no mask": "It sees all.", "no scale": "It sees one."})
    Texts to match with mistakes: a drawing to play with.
    """
    if not rounds:
        raise ValueError("rounds: got none, wanted at least one")
    for one in rounds:
        if set(one.texts) != set(one.names):
            raise ValueError(f"rounds: {one.name!r} has texts of {sorted(one.texts)}, wanted "
                             f"{sorted(one.names)}")  # fmt: skip
        if missing := set(one.names) - set(reasons):
            raise ValueError(f"reasons: got none for {sorted(missing)}")
    return playable(
        "match-texts", "Texts to match with mistakes", caption=caption,
        reasons=reasons,
        rounds=[
            {
                "name": one.name, "question": one.question, "names": list(one.names),
                "texts": [{"by": by, "text": text} for by, text in one.texts.items()],
            }
            for one in rounds
        ],
    )  # fmt: skip
