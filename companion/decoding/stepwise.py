"""Decoders that choose one token at a time and never look back: greedy and sampling."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from companion.contracts import contract
from companion.decoding.sequences import (
    Decoded,
    State,
    Step,
    first_tokens,
    take_step,
)
from companion.decoding.truncation import keep_min_p, keep_top_k, keep_top_p

TINIEST = torch.finfo(torch.float32).tiny * torch.finfo(torch.float32).eps
"""The least temperature: a lower one would be 0 where the logits are divided by it."""


@contract(batch_size=">= 1", max_len=">= 1")
@torch.no_grad()
def greedy(
    step: Step[State], state: State, *, batch_size: int, bos_id: int | Tensor, eos_id: int,
    max_len: int,
) -> Decoded:  # fmt: skip
    """Take the most probable token at every step until all sequences have ended.

    Args:
        step: takes the last tokens (b,) and a state; gives logits (b, vocabulary), the next state,
            and attention weights (b, k) or None.
        state: the state before the first step.
        batch_size: number of sequences.
        bos_id: token that every sequence starts from, where the first tensor of the state is; or
            tokens (b,), which also say the device. It is not returned.
        eos_id: token that ends a sequence.
        max_len: most tokens a sequence may have, its end counted.

    Returns:
        The sequences; one cut at `max_len` is marked as not finished, and so is one with a token
        that was forbidden or whose logits were nan.

    >>> def count_down(tokens, state):
    ...     return torch.eye(5)[tokens - 1], state, None
    >>> greedy(count_down, None, batch_size=1, bos_id=4, eos_id=0, max_len=9).sequences()
    [[3, 2, 1]]
    """
    first = first_tokens(bos_id, batch_size, state)
    return _write(
        step, state, lambda logits: logits.argmax(-1), first, eos_id, max_len
    )


@contract(
    batch_size=">= 1", max_len=">= 1", top_k=">= 1", top_p="> 0 and <= 1", min_p="> 0 and <= 1"
)  # fmt: skip
@torch.no_grad()
def sample(
    step: Step[State], state: State, *, batch_size: int, bos_id: int | Tensor, eos_id: int,
    max_len: int, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None,
    min_p: float | None = None, generator: torch.Generator | None = None,
) -> Decoded:  # fmt: skip
    """Draw every token from what the model says, until all sequences have ended.

    The logits are divided by the temperature, then cut by `top_k`, then by `top_p` of what that
    left, and at last by `min_p`. The log-probabilities that come back are the model's own, before
    all four.

    Args:
        step: as for `greedy`.
        state: the state before the first step.
        batch_size: number of sequences.
        bos_id: token that every sequence starts from, where the first tensor of the state is; or
            tokens (b,), which also say the device. It is not returned.
        eos_id: token that ends a sequence.
        max_len: most tokens a sequence may have, its end counted.
        temperature: above 0; below 1 sharpens, above 1 flattens. Its limit at 0 is `greedy`.
        top_k: draw from that many most probable tokens (Fan et al., 2018); None means all.
        top_p: draw from the fewest tokens that have this probability together (Holtzman et al.,
            2020); None means all.
        min_p: draw from the tokens that are at least this many times as probable as the most
            probable one (Nguyen et al., 2025); None means all.
        generator: source of the random numbers, on the device of the logits.

    Returns:
        The sequences; one cut at `max_len` is marked as not finished.

    >>> def dice(tokens, state):
    ...     return torch.zeros(len(tokens), 7), state, None
    >>> rolled = sample(dice, None, batch_size=2, bos_id=0, eos_id=0, max_len=5, top_k=7)
    >>> bool((rolled.tokens < 7).all())
    True
    """
    if temperature < TINIEST:
        raise ValueError(
            f"temperature: got {temperature}, wanted above 0 in float32; `greedy` is its limit"
        )

    def draw(logits: Tensor) -> Tensor:
        logits = logits.float()
        if logits.isnan().any():
            raise ValueError("step: got nan among the logits, wanted numbers")
        highest = logits.amax(-1, keepdim=True)
        highest = highest.where(highest > -math.inf, 0.0)
        logits = (logits - highest) / temperature
        if top_k is not None:
            logits = keep_top_k(logits, top_k)
        if top_p is not None:
            logits = keep_top_p(logits, top_p)
        if min_p is not None:
            logits = keep_min_p(logits, min_p)
        forbidden = (logits == -math.inf).all(-1, keepdim=True)
        probabilities = logits.masked_fill(forbidden, 0.0).softmax(-1)
        return torch.multinomial(probabilities, 1, generator=generator)[:, 0]

    first = first_tokens(bos_id, batch_size, state)
    return _write(step, state, draw, first, eos_id, max_len)


def _write(
    step: Step[State],
    state: State,
    choose: Callable[[Tensor], Tensor],
    last: Tensor,
    eos_id: int,
    max_len: int,
) -> Decoded:
    finished = torch.zeros(len(last), dtype=torch.bool, device=last.device)
    ended = 0
    tokens, weights, scores = [], [], []
    for _ in range(max_len):
        logits, state, attention = take_step(step, last, state)
        last = choose(logits).to(last.device)
        scores.append(_scores(logits, last))
        if ended:
            last = last.masked_fill(finished, eos_id)
        tokens.append(last)
        if attention is not None:
            weights.append(attention)
        finished = last == eos_id
        ended = int(finished.sum())
        if ended == len(last):
            break
    stacked = torch.stack(tokens, 1)
    lengths = (stacked != eos_id).sum(1)
    places = torch.arange(stacked.shape[1], device=last.device)
    after_end = places > lengths[:, None]
    chosen, log_probs = (
        torch.cat(parts, 1) for parts in zip(*scores, strict=True)
    )
    # A softmax gives no -inf where every token is forbidden.
    log_probs = log_probs.masked_fill(chosen == -math.inf, -math.inf)
    log_probs = log_probs.to(last.device).masked_fill(after_end, 0.0)
    possible = (log_probs > -math.inf).all(1)  # neither forbidden nor nan
    stacked_weights = torch.stack(weights, 1) if weights else None
    return Decoded(
        stacked, lengths, finished & possible, stacked_weights, log_probs
    )


def _scores(logits: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Return the logits of one token a row, and what a softmax makes of them, (b, 1) each."""
    ids = tokens.to(logits.device).unsqueeze(1)
    dtype = torch.promote_types(logits.dtype, torch.float32)
    log_probs = logits.log_softmax(-1, dtype=dtype)
    return logits.gather(-1, ids), log_probs.gather(-1, ids)
