"""Speculative decoding: a cheap model proposes tokens, and one pass of a dear one checks them all.

What is written has exactly the distribution of the dear model (Leviathan et al., 2023; Chen et
al., 2023).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import torch
from torch import Generator, Tensor

from companion.contracts import contract

Score = Callable[[Tensor], Tensor]
"""Takes tokens (n,); gives the probabilities (n, vocabulary) of the token that follows each."""

Origin = Literal["kept", "replaced", "added"]
"""A token that was proposed and kept, one in the place of a token that was refused, or one that
the pass gave in addition, since nothing was refused."""


class Speculated(NamedTuple):
    """What was written with the help of a draft.

    Attributes:
        tokens: (m,) ids, the end included if it was written.
        origins: where each of them comes from.
        passes: how often the target was asked.
    """

    tokens: Tensor
    origins: tuple[Origin, ...]
    passes: int


@contract(draft="... vocabulary", target="... vocabulary")
def overlap(draft: Tensor, target: Tensor) -> Tensor:
    """Return how often the target keeps a token that the draft proposes, (...).

    That is the sum of min(draft, target), or 1 minus the total variation between the two.

    Args:
        draft: probabilities that sum to 1 over the last axis.
        target: likewise.

    >>> import torch
    >>> overlap(torch.tensor([0.6, 0.3, 0.1]), torch.tensor([0.4, 0.4, 0.2]))
    tensor(0.8000)
    """
    return torch.minimum(draft, target).sum(-1)


@contract(draft="... vocabulary", target="... vocabulary")
def remainder(draft: Tensor, target: Tensor) -> Tensor:
    """Return the distribution from which a refused token is replaced, (..., vocabulary).

    It is what the target gives each token beyond the draft, divided by its sum; the target itself
    where it gives no token more.

    >>> import torch
    >>> remainder(torch.tensor([0.6, 0.3, 0.1]), torch.tensor([0.4, 0.4, 0.2]))
    tensor([0.0000, 0.5000, 0.5000])
    """
    lacking = (target - draft).clamp(min=0)
    total = lacking.sum(-1, keepdim=True)
    return torch.where(total > 0, lacking / total, target)


@contract(proposed="integers: m", draft="m vocabulary", target="_ vocabulary")
def verify(
    proposed: Tensor,
    draft: Tensor,
    target: Tensor,
    generator: Generator | None = None,
) -> Tensor:
    """Keep the proposed tokens up to the first that is refused, and put one token behind them.

    Args:
        proposed: tokens that were drawn from the rows of `draft`, one after the other.
        draft: the probabilities that they were drawn from.
        target: the target's, in one row more: the last one follows all that was proposed.
        generator: source of the random numbers.

    Returns:
        At least 1 token, and at most m + 1, distributed as if drawn from the target.

    Raises:
        ValueError: the target has another number of rows.

    >>> import torch
    >>> same = torch.tensor([[0.0, 1.0], [0.5, 0.5]])
    >>> verify(torch.tensor([1]), same[:1], same)[0]  # two who agree refuse nothing
    tensor(1)
    """
    if len(target) != len(proposed) + 1:
        raise ValueError(
            f"target: got {len(target)} rows, wanted {len(proposed) + 1}, one more than proposed"
        )
    for place, token in enumerate(proposed):
        chance = target[place, token] / draft[place, token]
        if torch.rand((), generator=generator) < chance:
            continue  # kept, always so if the target gives it more
        left = remainder(draft[place], target[place])
        other = torch.multinomial(left, 1, generator=generator)
        return torch.cat((proposed[:place], other))
    further = torch.multinomial(target[len(proposed)], 1, generator=generator)
    return torch.cat((proposed, further))


@contract(tokens="integers: n", n=">= 1", max_len=">= 1", ahead=">= 0")
@torch.no_grad()
def speculate(
    draft: Score, target: Score, tokens: Tensor, *, eos_id: int, max_len: int, ahead: int = 4,
    generator: Generator | None = None,
) -> Speculated:  # fmt: skip
    """Go on from tokens: the draft proposes some, the target scores all of them in one pass.

    Args:
        draft: proposes, token by token.
        target: what is written is distributed as if this model had written it alone.
        tokens: the beginning, which is not returned.
        eos_id: token that ends a text.
        max_len: most tokens that are written, the end counted.
        ahead: most tokens that are proposed for one pass; with 0 the target writes alone.
        generator: source of the random numbers, where the probabilities are.

    >>> import torch
    >>> def count_down(tokens):
    ...     return torch.eye(5)[tokens - 1]
    >>> speculate(count_down, count_down, torch.tensor([4]), eos_id=0, max_len=9, ahead=2)
    Speculated(tokens=tensor([3, 2, 1, 0]), origins=('kept', 'kept', 'added', 'kept'), passes=2)
    """
    text, origins, passes = tokens, list[Origin](), 0
    limit = len(tokens) + max_len
    while len(text) < limit and not (origins and text[-1] == eos_id):
        begun = len(text)
        guess = _proposed(
            draft, text, min(ahead, limit - begun - 1), eos_id, generator
        )
        drafted = draft(guess)[begun - 1 : -1]
        scored = target(guess)[begun - 1 :]
        new = verify(guess[begun:], drafted, scored, generator)
        passes += 1
        kept = len(new) - 1
        last: Origin = "added" if begun + kept == len(guess) else "replaced"
        proposed: list[Origin] = ["kept"] * kept
        origins += [*proposed, last]
        text = torch.cat((text, new))
        if kept and new[-2] == eos_id:  # a token behind the end is thrown away
            text, origins = text[:-1], origins[:-1]
    return Speculated(text[len(tokens) :], tuple(origins), passes)


def _proposed(
    draft: Score,
    text: Tensor,
    count: int,
    eos_id: int,
    generator: Generator | None,
) -> Tensor:
    """Return the text with up to `count` tokens of the draft behind it, none behind an end."""
    for _ in range(count):
        token = torch.multinomial(draft(text)[-1], 1, generator=generator)
        text = torch.cat((text, token))
        if token == eos_id:
            break
    return text
