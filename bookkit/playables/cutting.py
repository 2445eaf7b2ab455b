"""Arrows to cut in the two layers of the small model that copies."""

from bookkit.playables.copying import BASE, LETTERS, packed
from bookkit.playables.playable import Playable, playable


def cut_arrows(text: str, other: str, answer: str, *, caption: str = "") -> Playable:
    """Show a text in the two layers of the copier, with each look a cell that the reader can cut.

    The reader also takes the note that the first layer leaves at a letter from the other text.

    Args:
        text: letters from a to z; the second text is another one, as long.
        other: the second text.
        answer: the letter whose chance after the last letter is shown.

    >>> cut_arrows("kitchenkit", "kixchenkit", "c")
    Arrows to cut: a drawing to play with.
    """
    if len(text) != len(other) or not set(text + other + answer) <= set(LETTERS):
        raise ValueError(
            f"texts: got {text!r} and {other!r}, wanted two as long, of letters from a to z"
        )
    return playable(
        "cut-arrows", "Arrows to cut", caption=caption, names=[text, other], letters=LETTERS,
        texts=[[LETTERS.index(letter) for letter in one] for one in (text, other)],
        answer=LETTERS.index(answer), base=BASE, weights=packed(),
    )  # fmt: skip
