"""The checks of "A language model": right answers pass, and usual mistakes get their hints."""

from __future__ import annotations

import math
from statistics import fmean
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from bookkit.exercises.answers import Answer
from bookkit.exercises.language_model import (
    check_by_hand,
    check_guesses,
    check_loss,
    check_perplexity,
)


def perplexity(stories: Any) -> float:
    return math.exp(fmean(-math.log(chance) for story in stories for chance in story))


def product(stories: Any) -> float:
    chances = [chance for story in stories for chance in story]
    return float(math.prod(chances) ** (-1 / len(chances)))


def of_each(stories: Any) -> float:
    return fmean(perplexity([story]) for story in stories)


def make_loss(*, shift: int = 1, padded: bool = False, reads: bool = False) -> Answer:
    """A loss with a shift of its own, that may count padding, or keep what is read."""

    def loss(model: Any, tokens: Any, lengths: Any) -> Any:
        n = tokens.shape[1]
        real = torch.arange(n) < lengths[:, None]
        logits = model(tokens)
        if shift == 0:
            kept = real | padded
            return F.cross_entropy(logits[kept], tokens[kept])
        if shift < 0:
            kept = real[:, 1:]
            return F.cross_entropy(logits[:, 1:][kept], tokens[:, :-1][kept])
        kept = (real[:, :-1] if reads else real[:, 1:]) | padded
        return F.cross_entropy(logits[:, :-1][kept], tokens[:, 1:][kept])

    return loss


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_guesses, (72, 2)),
        (check_by_hand, (2.8,)),
        (check_perplexity, (perplexity,)),
        (check_loss, (make_loss(),)),
    ],
)
def test_the_right_answer_passes(
    check: Answer, answer: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    check(*answer)
    assert capsys.readouterr().out == "Right.\n"


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        (check_guesses, (4.2767, 2), "clueless: that is the loss in nats"),
        (check_guesses, (10, 2), "clueless: got 10"),
        (check_guesses, (72, 2.5), "half: 1 and 4 are averaged"),
        (check_guesses, (72, 1.6), "half: the chances are averaged"),
        (check_guesses, (72, None), "got nothing"),
        (check_by_hand, (64,), "take its fourth root"),
        (check_by_hand, (4.0,), "the word with the chance 1 counts"),
        (check_by_hand, (3.75,), "1 over each chance is averaged"),
        (check_by_hand, (1.5,), "that is the loss in bits"),
        (check_perplexity, (of_each,), "a long story has more words"),
        (check_perplexity, (lambda s: math.log(perplexity(s)),), "that is the loss: take exp"),
        (check_perplexity, (product,), "stops with: .* becomes 0; add their logarithms"),
        (check_loss, (make_loss(shift=0),), "the word that it reads, not for the next"),
        (check_loss, (make_loss(shift=0, padded=True),), "the word that it reads"),
        (check_loss, (make_loss(shift=-1),), "shift the other way"),
        (check_loss, (make_loss(padded=True),), "padding is counted"),
        (check_loss, (make_loss(reads=True),), "not the word that it reads"),
        (check_loss, (lambda m, t, _: m(t),), "wanted one number"),
    ],
)
def test_mistakes_get_their_hints(check: Answer, answer: tuple[Any, ...], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(*answer)
