"""Check functions of "The bottleneck".

Each calls your function, compares what it gives with a computation of its own, and prints "Right."
or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from bookkit.exercises.answers import Answer, check, check_call, compare


def check_half_length(half_length: Answer) -> None:
    """Check the length at which most sentences have a mistake.

    Args:
        half_length: `half_length(chance)`; the least number of words at which fewer than half of
            the sentences come out whole, if each word is right with probability `chance`,
            whatever the others are.
    """

    def expected(chance: float) -> tuple[int, dict[str, float]]:
        exact = math.log(0.5) / math.log(chance)
        right, linear = math.floor(exact) + 1, math.ceil(0.5 / (1 - chance))
        mistakes = {
            "chances multiply, they do not add: n words are right with chance ** n": linear,
            "a sentence has a whole number of words: round up": exact,
            "there, half or more still come out whole: one word more": right - 1,
        }
        return right, mistakes

    asked = "half_length({}): got {got:g}. Is chance ** n below 0.5 there, and not one word before?"
    check(half_length, [(0.99,), (0.95,), (0.5,), (0.8,)], expected, otherwise=asked)


def check_looking(weights: Any, context: Any) -> None:
    """Check one step of attention by hand: the query (1, 2) at the memory of three words.

    The memory is (0, 1) for "the", (1, 1) for "new" and (2, 0) for "house"; scores are dot
    products. Two digits after the point will do.

    Args:
        weights: (3,) how much of each word.
        context: (2,) the blend.
    """
    query, memory = np.array([1.0, 2.0]), np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    scores = memory @ query
    powers = np.exp(scores)
    right = powers / powers.sum()
    given = {
        "those are the scores: take exp of each, then divide by the sum": scores,
        "those are the exponentials: divide each by their sum": powers,
        "weights are shares of exp(score), not of the scores": scores / scores.sum(),
        "those are the weights of the query (1, 0): here it is (1, 2)": _softmax(memory[:, 0]),
        "a query looks hardest at one word, but at the others, too": np.array([0.0, 1.0, 0.0]),
        "these weights look at every word alike: score them with the query": np.full(3, 1 / 3),
    }
    blends = {
        "that is the plain mean of the memory: weight every row": memory.mean(0),
        "that is the sum of the memory: weight every row": memory.sum(0),
        "that is the memory of one word: blend all three": memory[1],
        "the numbers are right, in the wrong order: first, then second": (right @ memory)[::-1],
    }
    compare(weights, right, given, where="weights: ", axes="(3,)", atol=0.006)
    compare(context, right @ memory, blends, where="context: ", axes="(2,)", atol=0.006)
    print("Right.")


def check_uniform(uniform_context: Answer) -> None:
    """Check a context that looks at every source word alike.

    Args:
        uniform_context: `uniform_context(memory, mask)`, from annotations (b, k, d) and a mask
            (b, 1, k), True where a word stands, to one context a sentence, (b, 1, d).
    """
    b, k, d = 3, 5, 7
    memory = torch.randn(b, k, d, generator=torch.Generator().manual_seed(0))
    mask = (torch.arange(k) < torch.tensor([[4], [1], [3]]))[:, None]
    kept = [memory[row, mask[row, 0]] for row in range(b)]
    right = torch.stack([words.mean(0) for words in kept])[:, None]
    sums = torch.stack([words.sum(0) for words in kept])[:, None]
    weights = mask / mask.sum(-1, keepdim=True)
    of_padding = ~mask / (~mask).sum(-1, keepdim=True)
    softmax = mask.float().softmax(-1)
    mistakes = {
        "padding is averaged, too: use the mask": memory.mean(1, keepdim=True),
        "padding is left out of the sum, but not of the number you divide by": sums / k,
        "that is the sum: divide by the number of words": sums,
        "the mask is upside down: True is where a word stands": of_padding @ memory,
        "that is a softmax of the mask: padding still has weight": softmax @ memory,
        "those are the weights; blend the memory with them": weights,
        "one query looks: keep its axis, (b, 1, d)": right[:, 0],
    }
    given, why = (memory, mask), "Do the axes meet?"
    check_call(uniform_context, given, right, mistakes, why=why, axes="(b, 1, d)", atol=1e-5)


def check_last_states(last_states: Answer) -> None:
    """Check the state of a recurrent encoder after the last word, out of padded outputs.

    Args:
        last_states: `last_states(outputs, lengths)`, from the outputs (b, k, d) of a forward
            encoder that went over words and padding, and the numbers of words (b,), to (b, d).
    """
    b, k, d = 3, 5, 7
    outputs = torch.randn(b, k, d, generator=torch.Generator().manual_seed(1))
    lengths = torch.tensor([2, 5, 1])
    rows = torch.arange(b)
    right = outputs[rows, lengths - 1]
    late, early = outputs[rows, lengths.clamp(max=k - 1)], outputs[rows, (lengths - 2).clamp(min=0)]
    every = outputs[:, lengths - 1]
    mistakes = {
        "those are the states after the padding: the very bug": outputs[:, -1],
        "those are one word late: the last of n words has place n - 1": late,
        "those are one word early: the last of n words has place n - 1": early,
        "those are the states after the first word": outputs[:, 0],
        "every sentence has a length of its own: choose place and sentence together": every,
        "there is an axis of size 1 too many": right[:, None],
    }
    given, why = (outputs, lengths), "The last of 5 words has place 4."
    check_call(last_states, given, right, mistakes, why=why, axes="(b, d)", atol=1e-5)


def _softmax(scores: Any) -> Any:
    powers = np.exp(scores)
    return powers / powers.sum()
