"""Do two rankings of the words agree: in all pairs, or on the first word."""

from __future__ import annotations

import torch
from torch import Tensor

from companion.contracts import contract
from companion.interpret._checks import allowed_words, check_same_shape


@contract(a="... k", b="... k", mask="booleans: ~... ~k", k=">= 1")
def kendall_tau(a: Tensor, b: Tensor, mask: Tensor | None = None) -> Tensor:
    """Correlate two rankings by their pairs: Kendall's tau-b (Kendall, 1938, 1945).

    A pair of words counts +1 if both rankings order it alike, -1 if not, and 0 if one of them
    ties it; the sum is divided by the geometric mean of the pairs that each does not tie.

    Args:
        a: scores of k words.
        b: others.
        mask: True = the word counts; None counts all.

    Returns:
        (...) numbers from -1 to 1; NaN where one side ties every pair, because then nothing is
        ranked.

    >>> kendall_tau(torch.tensor([0.7, 0.2, 0.1]), torch.tensor([3.0, 1.0, 2.0])).round(decimals=3)
    tensor(0.3330)
    """
    check_same_shape(a=a, b=b)
    words = allowed_words(mask, a)
    pairs = words[..., :, None] & words[..., None, :]
    first, second = (
        torch.sign(x[..., :, None] - x[..., None, :]) * pairs for x in (a, b)
    )
    agreed = (first * second).sum((-2, -1))
    ranked = first.square().sum((-2, -1)) * second.square().sum((-2, -1))
    return agreed / ranked.sqrt()


@contract(a="... k", b="... k", mask="booleans: ~... ~k", k=">= 1")
def top_agreement(a: Tensor, b: Tensor, mask: Tensor | None = None) -> Tensor:
    """Say where two rankings put the same word first; of equal scores the first word counts.

    Args:
        a: scores of k words.
        b: others.
        mask: True = the word counts; None counts all.

    Returns:
        (...) booleans.

    >>> top_agreement(torch.tensor([0.7, 0.2, 0.1]), torch.tensor([3.0, 1.0, 2.0]))
    tensor(True)
    """
    check_same_shape(a=a, b=b)
    words = allowed_words(mask, a)
    first, second = (
        x.masked_fill(~words, -torch.inf).argmax(-1) for x in (a, b)
    )
    return first == second
