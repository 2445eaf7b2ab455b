"""The exercises of "The bottleneck"."""

import math

import numpy as np
import torch
from torch import Tensor

from bookkit.exercises.answers import softmax
from bookkit.exercises.exercise import Function, Several, Value


def _half_length(chance: float) -> int:
    return math.floor(math.log(0.5) / math.log(chance)) + 1


check_half_length = Function(
    "`half_length(chance)`, the least number of words at which fewer than half of the sentences "
    "come out whole, if each word is right with probability `chance`, whatever the others are.",
    right=_half_length, cases=[(0.99,), (0.95,), (0.5,), (0.8,)], mistakes={
        "chances multiply, they do not add: n words are right with chance ** n":
            lambda p: math.ceil(0.5 / (1 - p)),
        "a sentence has a whole number of words: round up": lambda p: math.log(0.5) / math.log(p),
        "half or more are right at this length: one word more": lambda p: _half_length(p) - 1,
    }, otherwise="half_length({}): got {got:g}. Is chance ** n below 0.5 there, and not one word "
    "before?",
)  # fmt: skip

QUERY, MEMORY = np.array([1.0, 2.0]), np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
SCORES = MEMORY @ QUERY
WEIGHTS = softmax(SCORES)

check_looking = Several(
    'One step of attention by hand: the query (1, 2) at the memory (0, 1) for "the", (1, 1) for '
    '"new" and (2, 0) for "house"; scores are dot products. Two digits after the point will do.',
    weights=Value("(3,) how much of each word.", right=WEIGHTS, mistakes={
        "those are the scores: take exp of each, then divide by the sum": SCORES,
        "those are the exponentials: divide each by their sum": np.exp(SCORES),
        "weights are shares of exp(score), not of the scores": SCORES / SCORES.sum(),
        "those are the weights of the query (1, 0): here it is (1, 2)":
            softmax(MEMORY[:, 0]),
        "the query looks mostly at one word, but also at the others": np.eye(3)[1],
        "all words have the same weight here: score them with the query": np.full(3, 1 / 3),
    }, axes="(3,)", atol=0.006),
    context=Value("(2,) the blend.", right=WEIGHTS @ MEMORY, mistakes={
        "that is the plain mean of the memory: weight every row": MEMORY.mean(0),
        "that is the sum of the memory: weight every row": MEMORY.sum(0),
        "that is the memory of one word: blend all three": MEMORY[1],
        "the numbers are right, in the wrong order: first, then second":
            (WEIGHTS @ MEMORY)[::-1],
    }, axes="(2,)", atol=0.006),
)  # fmt: skip


def _share(mask: Tensor) -> Tensor:
    return mask / mask.sum(-1, keepdim=True)


check_uniform = Function(
    "`uniform_context(memory, mask)`, from the memory (b, k, d) and a mask (b, 1, k), True where "
    "there is a word, to one context a sentence, (b, 1, d), that looks at every word alike.",
    right=lambda memory, mask: _share(mask) @ memory, cases=[(
        torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(0)),
        (torch.arange(5) < torch.tensor([[4], [1], [3]]))[:, None],
    )], mistakes={
        "padding is averaged as well: use the mask": lambda m, a: m.mean(1, keepdim=True),
        "padding is left out of the sum, but not of the number you divide by":
            lambda m, a: a.float() @ m / a.shape[-1],
        "that is the sum: divide by the number of words": lambda m, a: a.float() @ m,
        "the mask is upside down: it is True where there is a word": lambda m, a: _share(~a) @ m,
        "that is a softmax of the mask: padding still has weight":
            lambda m, a: a.float().softmax(-1) @ m,
        "those are the weights; blend the memory with them": lambda m, a: _share(a),
        "one query looks: keep its axis, (b, 1, d)": lambda m, a: (_share(a) @ m)[:, 0],
    }, why="Do the axes meet?", axes="(b, 1, d)", atol=1e-5,
)  # fmt: skip


def _at(outputs: Tensor, places: Tensor) -> Tensor:
    return outputs[torch.arange(len(outputs)), places.clamp(0, outputs.shape[1] - 1)]


check_last_states = Function(
    "`last_states(outputs, lengths)`, from the outputs (b, k, d) of a forward encoder that went "
    "over words and padding, and the numbers of words (b,), to the states after the last word, "
    "(b, d).",
    right=lambda outputs, lengths: _at(outputs, lengths - 1), cases=[(
        torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(1)), torch.tensor([2, 5, 1]),
    )], mistakes={
        "those are the states after the padding: the very bug": lambda o, n: o[:, -1],
        "one word late: the last of n words is at position n - 1": _at,
        "one word early: the last of n words is at position n - 1": lambda o, n: _at(o, n - 2),
        "those are the states after the first word": lambda o, n: o[:, 0],
        "every sentence has a length of its own: choose position and sentence together":
            lambda o, n: o[:, n - 1],
        "there is an axis of size 1 too many": lambda o, n: _at(o, n - 1)[:, None],
    }, why="The last of 5 words is at position 4.", axes="(b, d)", atol=1e-5,
)  # fmt: skip
