"""What a model says without a word."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from companion.contracts import contract
from companion.interpret._checks import distributions
from companion.interpret.divergence import total_variation


def _check_lengths(tokens: Tensor, lengths: Tensor) -> None:
    """Refuse sentences of one word, and other than one length for each sentence."""
    if tokens.ndim < 2:
        raise ValueError(
            f"tokens: got shape {tuple(tokens.shape)}, wanted (b, k, ...)"
        )
    if lengths.shape != tokens.shape[:1]:
        raise ValueError(
            f"lengths: got shape {tuple(lengths.shape)}, wanted ({len(tokens)},), one a sentence"
        )
    if len(lengths) and int(lengths.min()) < 2:
        raise ValueError(
            f"lengths: got one of {int(lengths.min())}, wanted at least 2: a sentence of one word "
            "has nothing left without it"
        )


@contract()
@torch.no_grad()
def leave_one_out(
    predict: Callable[[Tensor, Tensor], Tensor],
    tokens: Tensor,
    lengths: Tensor,
) -> Tensor:
    """Delete one word at a time, and measure how far the output moves (Jain and Wallace, 2019).

    The sentence gets shorter by the word: later words move up, and a recurrent encoder reads them
    anew. So this asks about the input, not about the weights.

    Args:
        predict: from tokens (b, n, ...) and lengths (b,) to distributions (b, ..., c).
        tokens: (b, k, ...) integers, padded at the end.
        lengths: (b,) number of words, at least 2 each.

    Returns:
        (b, ..., k) total variation distance from the output for the whole sentence, one number a
        word; 0 at the padding.

    Raises:
        TypeError: `predict` gives no tensor of floating numbers.
        ValueError: a sentence of one word.

    >>> def predict(tokens, lengths):  # the share of ones among the words
    ...     share = tokens.sum(-1) / lengths
    ...     return torch.stack((share, 1 - share), -1)
    >>> leave_one_out(predict, torch.tensor([[1, 0, 0]]), torch.tensor([3])).round(decimals=3)
    tensor([[0.3330, 0.1670, 0.1670]])
    """
    _check_lengths(tokens, lengths)
    whole = distributions("predict", predict(tokens, lengths))
    positions = torch.arange(tokens.shape[1], device=tokens.device)
    effects = []
    for word in range(tokens.shape[1]):
        rest = tokens[:, positions != word]
        without = predict(rest, lengths - (lengths > word).to(lengths))
        padding = (lengths <= word).view(-1, *[1] * (whole.ndim - 2))
        moved = total_variation(whole, without)
        effects.append(moved.masked_fill(padding, 0.0))
    return torch.stack(effects, -1)
