"""BLEU on cases whose right answer can be counted by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from companion.conformance._outputs import fail_if
from companion.contracts import contract

Sentences = Sequence[Sequence[str]]
CLOSE = 0.05


@contract()
def check_bleu(bleu: Callable[[Sentences, Sentences], float]) -> None:
    """Check a corpus BLEU: its brevity penalty, its clipping, its sums over the corpus.

    Args:
        bleu: `bleu(hypotheses, references)`, from lists of token lists to a number between 0 and
            100 (Papineni et al., 2002), up to 4-grams. Every n has a match, so smoothing, in which
            programs differ, does not show.

    >>> from companion.metrics import bleu
    >>> check_bleu(bleu)
    """
    words = list("abcdefghijklmnopqrst")
    short = [words[:10]], [words]
    _expect(bleu, *short, wanted=100 * math.exp(-1), wrong={
        100.0: "half of the text scores 100: the brevity penalty is missing",
        100 * math.exp(-0.5): "the penalty is exp(1 - r / h), r the reference's length",
        math.exp(-1): "that is a fraction, wanted a number between 0 and 100",
    })  # fmt: skip
    plain = _geometric_mean(10 / 20, 9 / 19, 8 / 18, 7 / 17)
    _expect(bleu, [words], [words[:10]], wanted=plain, wrong={
        plain * math.exp(-1): "a text that is too long needs no penalty: its precision is low",
        plain * math.exp(0.5): "a text that is too long gets a reward: the penalty is at most 1",
    })  # fmt: skip
    clipped = _geometric_mean(5 / 10, 4 / 9, 3 / 8, 2 / 7)
    _expect(bleu, [words[:5] * 2], [words[:10]], wanted=clipped, wrong={
        _geometric_mean(10 / 10, 8 / 9, 6 / 8, 4 / 7): "an n-gram counts as often as the "
        "reference has it: clip the counts",
    })  # fmt: skip
    both = [words[:6], words], [words[:16], words[:10]]
    summed = _geometric_mean(16 / 26, 14 / 24, 12 / 22, 10 / 20)
    _expect(bleu, *both, wanted=summed, wrong={
        (100 * math.exp(1 - 16 / 6) + plain) / 2: "a mean over sentences is not BLEU: "
        "add counts and lengths up first",
    })  # fmt: skip


@contract()
def check_spacing(score: Callable[[list[str], list[str]], float]) -> None:
    """Check that a score of texts does not change with the blanks around punctuation.

    Two papers that cut texts into tokens differently report two numbers for one translation; a
    score that takes plain texts and cuts them itself, always in the same way, has no such choice.

    Args:
        score: `score(hypotheses, references)`, from lists of texts to a number.

    >>> from companion.data.pairs import words
    >>> from companion.metrics import bleu
    >>> check_spacing(lambda ours, theirs: bleu(list(map(words, ours)), list(map(words, theirs))))
    """
    reference = ["the house, which is red, was sold; we left."]
    same = ["the house , which is red , was sold ; we left ."]
    glued, apart = score(reference, reference), score(same, reference)
    fail_if(
        abs(glued - apart) > CLOSE,
        f"blanks around punctuation change the score from {glued:.1f} to {apart:.1f}: "
        f"cut both sides by one rule, and report it (sacreBLEU's signature)",
    )


def _expect(
    bleu: Callable[[Sentences, Sentences], float], hypotheses: Sentences, references: Sentences, *,
    wanted: float, wrong: dict[float, str],
) -> None:  # fmt: skip
    got = float(bleu(hypotheses, references))
    if abs(got - wanted) <= CLOSE:
        return
    for number, hint in wrong.items():
        fail_if(abs(got - number) <= CLOSE, hint)
    raise AssertionError(
        f"got {got:.2f}, wanted {wanted:.2f}, for {hypotheses} against {references}"
    )


def _geometric_mean(*precisions: float) -> float:
    """Of the precisions of 1- to 4-grams, in percent."""
    return 100 * math.prod(precisions) ** 0.25
