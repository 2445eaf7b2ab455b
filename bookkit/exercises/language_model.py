"""Check functions of "A language model".

Each compares your answer, or what your function gives, with a computation of its own, and prints
"Right." or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain
from statistics import fmean
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, check, compare, fail

Model = Callable[[Tensor], Tensor]
"""From ids (b, n) to logits (b, n, v)."""

BY_HAND = (1 / 2, 1 / 4, 1.0, 1 / 8)
WORDS = 72
"""Words in the first part of the prediction."""


def check_guesses(clueless: Any, half: Any) -> None:
    """Check two predicted perplexities.

    Args:
        clueless: of a model that gives all 72 words the same chance.
        half: of a model that gives every second word the chance 1, and the others 1/4.
    """
    compare(
        clueless, float(WORDS),
        {"that is the loss in nats: the perplexity is exp of it": math.log(WORDS),
         "that is the chance of each word": 1 / WORDS},
        where="clueless: ", otherwise="got {got:g}: how many words does it choose among?",
    )  # fmt: skip
    compare(
        half, 2.0,
        {"1 and 4 are averaged; average the logarithms instead": 2.5,
         "the chances are averaged; average their logarithms": (1 / 0.625, 0.625),
         "that is the loss in nats: the perplexity is exp of it": math.log(2)},
        where="half: ", otherwise="got {got:g}: average the logarithms of 1 and 4, then take exp",
        rtol=5e-3,
    )  # fmt: skip
    print("Right.")


def check_by_hand(perplexity: Any) -> None:
    """Check the perplexity of four words with the chances 1/2, 1/4, 1 and 1/8, by hand.

    Args:
        perplexity: to one digit after the point.
    """
    nats = [-math.log(chance) for chance in BY_HAND]
    compare(
        perplexity, math.exp(fmean(nats)),
        {"that is one over the chance of all four together: take its fourth root":
             1 / math.prod(BY_HAND),
         "the word with the chance 1 counts as a word, too": math.exp(sum(nats) / 3),
         "1 over each chance is averaged; multiply them, and take the fourth root":
             fmean(1 / chance for chance in BY_HAND),
         "that is the loss in bits: the perplexity is 2 to this power": 1.5,
         "bits go with powers of 2, nats with powers of e": math.exp(1.5)},
        otherwise="got {got:g}: multiply the four chances, and what is the fourth root of that?",
        rtol=0, atol=0.051,
    )  # fmt: skip
    print("Right.")


def check_perplexity(perplexity: Answer) -> None:
    """Check a function that computes the perplexity of a model on several stories.

    Args:
        perplexity: `perplexity(stories)`, from lists of the chances that a model gave to the words
            of each story, to a number.
    """
    cases = (
        [list(BY_HAND)],
        [[1 / 2, 1 / 2], [1 / 8]],
        [[0.9, 0.05, 0.3, 1.0], [0.6], [0.2, 0.7]],
        [[0.01] * 500],
    )

    def expected(stories: Sequence[Sequence[float]]) -> answers.Expected:
        nats = [[-math.log(chance) for chance in story] for story in stories]
        mean = fmean(chain.from_iterable(nats))
        of_each = [math.exp(fmean(story)) for story in nats]
        return math.exp(mean), {
            "that is the loss: take exp of it": mean,
            "the perplexities of the stories are averaged: a long story has more words, "
            "so average over all words": (fmean(of_each), math.exp(fmean(map(fmean, nats)))),
            "the chances are averaged; average their logarithms": (
                1 / fmean(chain.from_iterable(stories))
            ),
            "log2 goes with powers of 2, log with exp": math.exp(mean / math.log(2)),
        }

    why = "A product of many chances becomes 0; add their logarithms."
    check(perplexity, [(case,) for case in cases], expected, why=why,
          otherwise="got {got:g}, wanted {wanted:g}")  # fmt: skip


def check_loss(loss: Answer) -> None:
    """Check a loss of a language model.

    Args:
        loss: `loss(model, tokens, lengths)`, from a model, which turns ids (b, n) into logits
            (b, n, v), padded ids (b, n) and their lengths (b,), to the mean loss in nats.
    """
    generator = torch.Generator().manual_seed(5)
    table = torch.randn(9, 9, generator=generator)
    tokens = torch.tensor([[1, 4, 5, 6, 2], [1, 7, 2, 0, 0], [1, 8, 3, 2, 0]])
    lengths = torch.tensor([5, 3, 4])

    def model(ids: Any) -> Tensor:
        return table[ids]

    got = answers.called(loss, model, tokens, lengths)
    if isinstance(got, Tensor) and got.ndim:
        fail(f"got a tensor of shape {tuple(got.shape)}, wanted one number, the mean")
    logits = table[tokens]
    real = torch.arange(5) < lengths[:, None]

    def mean(scores: Tensor, targets: Tensor, kept: Tensor) -> float:
        return float(F.cross_entropy(scores[kept], targets[kept]))

    every = torch.ones_like(real)
    compare(
        got, mean(logits[:, :-1], tokens[:, 1:], real[:, 1:]),
        {"the model is asked for the word that it reads, not for the next one":
             (mean(logits, tokens, real), mean(logits, tokens, every),
              mean(logits[:, 1:], tokens[:, 1:], real[:, 1:])),
         "padding is counted: keep only what `lengths` says is real":
             mean(logits[:, :-1], tokens[:, 1:], every[:, 1:]),
         "the model is asked for the word before: shift the other way":
             mean(logits[:, 1:], tokens[:, :-1], real[:, 1:]),
         "a position counts if the word that it is to predict is real, not the word that it reads":
             mean(logits[:, :-1], tokens[:, 1:], real[:, :-1])},
        otherwise="got {got:g}, wanted {wanted:g}",
    )  # fmt: skip
    print("Right.")
