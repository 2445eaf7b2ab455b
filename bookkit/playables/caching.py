"""A cache that grows word by word: what is kept, what is computed, and whether it is the same."""

from collections.abc import Sequence
from typing import Any

from bookkit.inputs import FINITE, as_labels, as_matrix, in_span
from bookkit.playables.playable import Playable, playable

RULES = ("causal", "window", "window and first word", "both ways", "offset forgotten")
"""Who may look at whom."""


def growing_cache(
    words: Sequence[str],
    vectors: Any,
    *,
    prompt: int = 3,
    window: int = 3,
    step: int = 1,
    caption: str = "",
) -> Playable:
    """Show two layers of attention that read a prompt and then one word at a time.

    The vectors are queries, keys and values of the first layer in one, and what it blends are those
    of the second. With a cache a step computes the rows of its new words alone. The drawing says
    what the cache holds, which weights of the second layer are computed, and how far the output for
    the last word is from the one that is computed from scratch. A reader chooses the step, who may
    look at whom (`RULES`), and whether there is a cache.

    Args:
        words: n words.
        vectors: (n, 2) one vector for each.
        prompt: how many words are read at once at first; at least one more follows.
        window: how many words a query sees in the rules with a window, its own the last of them.
        step: to begin with; 0 is the prompt, and each further step reads a word.

    >>> growing_cache(["the", "new", "house"], [[0, 1], [1, 1], [2, 0]], prompt=1, step=2)
    A cache that grows: a drawing to play with.
    """
    matrix = as_matrix(vectors, "vectors", 2, within=FINITE)
    labels = as_labels(words, "words", len(matrix), "vector")
    in_span(prompt, "prompt", 1, len(labels) - 1)
    in_span(step, "step", 0, len(labels) - prompt)
    in_span(window, "window", 1, len(labels))
    return playable(
        "growing-cache",
        "A cache that grows",
        caption=caption,
        words=labels,
        vectors=matrix,
        prompt=prompt,
        window=window,
        rules=[f"window of {window}" if one == "window" else one for one in RULES],
        step=step,
        rule=0,
        cached=True,
    )
