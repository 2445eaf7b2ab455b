"""A ring of devices: which pairs each one computes in each round, by who has which piece."""

from bookkit.playables.playable import Playable, playable


def ring_layout(*, caption: str = "") -> Playable:
    """Show four devices that pass their keys around, and let the reader hand out the text.

    Each device has two of eight pieces, of two tokens each. The reader drags pieces, goes from
    round to round, and sees which device the others wait for.

    >>> ring_layout()
    Four devices in a ring: a drawing to play with.
    """
    return playable(
        "ring-layout", "Four devices in a ring", caption=caption, devices=4, each=2, tokens=2
    )
