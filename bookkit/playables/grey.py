"""Summaries to touch: names that are all alike to a model, and words that the reader reorders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bookkit.playables.playable import Playable, playable

if TYPE_CHECKING:
    from companion.translation import Translator


def grey_names(
    grey: Translator,
    numbered: Translator,
    *,
    names: Sequence[str] = ("toral", "mikuno"),
    star: str = "vobis",
    referee: str = "zelan",
    caption: str = "",
) -> Playable:
    """Show a report beside what a pointer-generator reads of it, and the summary that it writes.

    The reader types the names of two teams, chooses their goals, and exchanges the loser; the
    models run in the page. Their weights are rounded to eight bits.

    Args:
        grey: a `PointerGenerator` that reads all names as unknown words.
        numbered: one that reads name1, name2 and so on in their place.
        names: of the two teams; like `star` and `referee`, unknown to both.
    """
    for name in (*names, star, referee):
        if name in grey.source_vocab:
            raise ValueError(f"names: got {name!r}, wanted words that the model does not know")
    return playable(
        "grey-names", "Names that a model has never seen", caption=caption,
        names=list(names), star=star, referee=referee,
        grey=_stored(grey), numbered=_stored(numbered),
    )  # fmt: skip


def bend_ruler(words: Sequence[str], facts: Sequence[int], *, caption: str = "") -> Playable:
    """Let the reader put the words of a right summary into another order, and see ROUGE.

    Args:
        words: of the summary, with "beat" between winner and loser.
        facts: places of the words that say what happened.

    >>> bend_ruler("toral beat mikuno 3 1 , vobis shines".split(), [0, 2, 3, 4, 6])
    A summary whose words can be moved: a drawing to play with.
    """
    return playable(
        "bend-ruler", "A summary whose words can be moved", caption=caption,
        words=list(words), facts=list(facts), beat=list(words).index("beat"),
    )  # fmt: skip


def _stored(one: Translator) -> dict[str, Any]:
    from bookkit.playables.weights import in_levels

    weights = one.model.state_dict()  # type: ignore[attr-defined]
    kept = {name: weight for name, weight in weights.items() if "base." not in name}
    kept |= {
        name.removeprefix("base."): weight
        for name, weight in weights.items()
        if name.startswith("base.") and "attention" not in name
    }
    return {
        "words": list(one.source_vocab.tokens),
        "weights": {
            name: in_levels(weight) for name, weight in kept.items() if "coverage" not in name
        },
    }
