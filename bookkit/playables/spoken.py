"""A word that is spoken frame by frame, and read by attention that may lose its place."""

import numpy as np

from bookkit.playables.playable import Playable, playable

PACE = 6
"""Frames from one letter to the next that the reader expects, the mean of what is drawn."""
FRAME = 20
"""Milliseconds of a frame, as in Whisper."""
_LONGEST, _TAKES = 12, 8  # letters with the silence behind them, and how often all are drawn


def spoken_word(word: str = "banana", *, seed: int = 0, caption: str = "") -> Playable:
    """Show how attention finds the letters of a word in frames, one letter after the other.

    A letter lasts for 3 to 9 frames, drawn anew for each take. The reader scores a frame by the
    letter before it, and by how far it is from the place where the next letter is expected.

    Args:
        word: at most 11 letters.

    >>> spoken_word()
    A word that is read from its frames: a drawing to play with.
    """
    takes = np.random.default_rng(seed).integers(3, 2 * PACE - 2, (_TAKES, _LONGEST))
    return playable(
        "spoken-word", "A word that is read from its frames", caption=caption,
        word=word, takes=takes, pace=PACE, frame=FRAME, content=4, place=0,
    )  # fmt: skip
