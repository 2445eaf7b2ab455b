"""The first mistake of the founding notebook to try: two lengths, and what broadcasting adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bookkit.playables.playable import Playable, playable

if TYPE_CHECKING:
    from torch import Tensor

    from bookkit.founding import FoundingAttention

LETTERS, STEPS = "good morning", "buenos días"
WIDTH = 8
_NAMES = {" ": "\u2423"}  # a space that can be seen


def broadcast_scores(*, caption: str = "") -> Playable:
    """Show which scores the notebook's layer computes for a choice of letters and steps.

    The layer and the vectors that it reads are random; the last step writes the end of the phrase.

    >>> broadcast_scores()
    Lengths that are added: a drawing to play with.
    """
    layer, letters, steps = example()
    return playable(
        "broadcast", "Lengths that are added", caption=caption,
        letters=[_NAMES.get(one, one) for one in LETTERS],
        steps=[*(_NAMES.get(one, one) for one in STEPS), "end"],
        offered=(letters @ layer.W_a).detach().numpy(), wanted=(steps @ layer.U_a).detach().numpy(),
        vector=layer.V_a[:, 0].detach().numpy(),
    )  # fmt: skip


def example() -> tuple[FoundingAttention, Tensor, Tensor]:
    """Return a layer, and random vectors of letters (k, d) and of steps (q, d), in float64."""
    import torch

    from bookkit.founding import FoundingAttention

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layer = FoundingAttention(WIDTH).double()
        vectors = torch.randn(len(LETTERS) + len(STEPS) + 1, WIDTH, dtype=torch.float64)
    return layer, vectors[: len(LETTERS)], vectors[len(LETTERS) :]
