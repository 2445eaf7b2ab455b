"""The exercises of "A language model"."""

import math
from itertools import chain
from statistics import fmean
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from bookkit.exercises.answers import Answer, fail
from bookkit.exercises.exercise import Function, Several, Value

WORDS = 72
"""Words in the first part of the prediction."""

check_guesses = Several(
    "Two predicted perplexities.",
    clueless=Value(
        "Of a model that gives all 72 words the same chance.", right=float(WORDS), mistakes={
            "that is the loss in nats: the perplexity is exp of it": math.log(WORDS),
            "that is the chance of each word": 1 / WORDS,
        }, otherwise="got {got:g}: how many words does it choose among?",
    ),
    half=Value(
        "Of a model that gives every second word the chance 1, and the others 1/4.", right=2.0,
        mistakes={
            "1 and 4 are averaged; average the logarithms instead": 2.5,
            "the chances are averaged; average their logarithms": (1 / 0.625, 0.625),
            "that is the loss in nats: the perplexity is exp of it": math.log(2),
        }, otherwise="got {got:g}: average the logarithms of 1 and 4, then take exp", rtol=5e-3,
    ),
)  # fmt: skip

BY_HAND = [1 / 2, 1 / 4, 1.0, 1 / 8]

check_by_hand = Value(
    "The perplexity of four words with the chances 1/2, 1/4, 1 and 1/8, by hand, to one digit "
    "after the point.",
    right=math.prod(BY_HAND) ** (-1 / 4), mistakes={
        "that is one over the chance of all four together: take its fourth root":
            1 / math.prod(BY_HAND),
        "the word with the chance 1 counts as a word, too": math.prod(BY_HAND) ** (-1 / 3),
        "1 over each chance is averaged; multiply them, and take the fourth root":
            fmean(1 / chance for chance in BY_HAND),
        "that is the loss in bits: the perplexity is 2 to this power": 1.5,
        "bits go with powers of 2, nats with powers of e": math.exp(1.5),
    }, otherwise="got {got:g}: multiply the four chances, and what is the fourth root of that?",
    rtol=0, atol=0.051,
)  # fmt: skip

Stories = list[list[float]]


def _loss(stories: Stories) -> float:
    return fmean(-math.log(chance) for chance in chain.from_iterable(stories))


check_perplexity = Function(
    "`perplexity(stories)`, from lists of the chances that a model gave to the words of each "
    "story, to a number.",
    right=lambda stories: math.exp(_loss(stories)), cases=[
        ([BY_HAND],), ([[1 / 2, 1 / 2], [1 / 8]],), ([[0.9, 0.05, 0.3, 1.0], [0.6], [0.2, 0.7]],),
        ([[0.01] * 500],),
    ], mistakes={
        "that is the loss: take exp of it": _loss,
        "the perplexities of the stories are averaged: a long story has more words, "
        "so average over all words": (
            lambda s: fmean(math.exp(_loss([story])) for story in s),
            lambda s: math.exp(fmean(_loss([story]) for story in s)),
        ),
        "the chances are averaged; average their logarithms":
            lambda s: 1 / fmean(chain.from_iterable(s)),
        "log2 goes with powers of 2, log with exp": lambda s: math.exp(_loss(s) / math.log(2)),
    }, why="A product of many chances becomes 0; add their logarithms.",
    otherwise="got {got:g}, wanted {wanted:g}",
)  # fmt: skip

TABLE = torch.randn(9, 9, generator=torch.Generator().manual_seed(5))


def _number(got: Any, *_: Any) -> Any:
    if isinstance(got, Tensor) and got.ndim:
        fail(f"got a tensor of shape {tuple(got.shape)}, wanted one number, the mean")
    return got


def _mean(at: slice, asked: slice, kept: slice | None = None) -> Answer:
    """Make the loss of some outputs at some words; `kept` are those that have to be real."""

    def loss(model: Answer, tokens: Tensor, lengths: Tensor) -> float:
        real = torch.arange(tokens.shape[1]) < lengths[:, None]
        logits, words = model(tokens)[:, at], tokens[:, asked]
        counted = torch.ones_like(words, dtype=torch.bool) if kept is None else real[:, kept]
        return float(F.cross_entropy(logits[counted], words[counted]))

    return loss


ALL, BUT_LAST, BUT_FIRST = slice(None), slice(-1), slice(1, None)

check_loss = Function(
    "`loss(model, tokens, lengths)`, from a model, which turns ids (b, n) into logits (b, n, v), "
    "padded ids (b, n) and their lengths (b,), to the mean loss of a language model in nats.",
    right=_mean(BUT_LAST, BUT_FIRST, BUT_FIRST), cases=[(
        TABLE.__getitem__,
        torch.tensor([[1, 4, 5, 6, 2], [1, 7, 2, 0, 0], [1, 8, 3, 2, 0]]),
        torch.tensor([5, 3, 4]),
    )], mistakes={
        "the model is asked for the word that it reads, not for the next one":
            (_mean(ALL, ALL, ALL), _mean(ALL, ALL), _mean(BUT_FIRST, BUT_FIRST, BUT_FIRST)),
        "padding is counted: keep only what `lengths` says is real": _mean(BUT_LAST, BUT_FIRST),
        "the model is asked for the word before: shift the other way":
            _mean(BUT_FIRST, BUT_LAST, BUT_FIRST),
        "a position counts if the word that it is to predict is real, not the word that it reads":
            _mean(BUT_LAST, BUT_FIRST, BUT_LAST),
    }, read=_number, otherwise="got {got:g}, wanted {wanted:g}",
)  # fmt: skip
