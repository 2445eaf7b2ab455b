"""Check functions of "Summarization".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.pages.exercises.answers import as_number, called, fail, named

Numbers = NDArray[np.float64]


def check_number(number: Answer) -> None:
    """Check that the unknown words of a sentence get ids of their own.

    Args:
        number: `number(words, vocab)`, from words and a dictionary of ids 0 to V - 1, to a list of
            ids: known words as in the dictionary, the others from V on as they come.
    """
    vocab = {"beat": 0, "and": 1, ",": 2}
    for text, right in (
        ("toral beat mikuno , toral and vobis", [3, 0, 4, 2, 3, 1, 5]),
        ("and and vobis", [1, 1, 3]),
    ):
        words, given = text.split(), dict(vocab)
        got = called(number, list(words), given)
        if given != vocab:
            fail("your function changes the dictionary: the next sentence has other unknown words")
        try:
            found = [int(identity) for identity in got]
        except (TypeError, ValueError):
            fail(f"got {named(got)}, wanted a list of ids")
        mistakes = {
            "a word that comes twice has one id: copying adds up its places": [
                vocab[w] if w in vocab else 3 + sum(x not in vocab for x in words[:i])
                for i, w in enumerate(words)
            ],
            "the first new id is V, the number of known words": [
                i + (w not in vocab) for i, w in zip(right, words, strict=True)
            ],
            "all unknown words have the same id: nothing could be copied": [
                vocab.get(w, 3) for w in words
            ],
        }
        if found != right:
            for hint, wrong in mistakes.items():
                if found == wrong:
                    fail(hint)
            fail(f"for {text!r} got {found}, which is not it")
    print("Right.")


def check_mix(mix: Answer) -> None:
    """Check the final distribution of a step.

    Args:
        mix: `mix(p_vocab, weights, p_gen, source, size)`, from arrays (V,) and (k,), a number, a
            list of k ids and the number of ids, to an array (size,).
    """
    p_vocab, weights = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.4, 0.3, 0.2])
    for p_gen, source in ((0.8, [3, 1, 3, 4]), (0.3, [0, 4, 4, 3])):
        args = p_gen, list(source), 5
        got = called(mix, p_vocab.copy(), weights.copy(), *args)
        right = _mixed(p_vocab, weights, p_gen, source)
        last = np.pad(p_gen * p_vocab, (0, 2))
        for place, identity in enumerate(source):
            last[identity] = (1 - p_gen) * weights[place] + (
                p_gen * p_vocab[identity] if identity < 3 else 0
            )
        mistakes = {
            "p_gen is the probability of generating; copying has the rest": _mixed(
                p_vocab, weights, 1 - p_gen, source
            ),
            "a word that stands at two places has the weights of both": last,
            "the weights come on top of what the vocabulary gives, not in its place": (
                _mixed(p_vocab, weights, p_gen, source)
                - np.pad(p_gen * p_vocab * [i in source for i in range(3)], (0, 2))
            ),
            "the weights are not multiplied by 1 - p_gen": (
                np.pad(p_gen * p_vocab, (0, 2)) + _mixed(p_vocab * 0, weights, 0.0, source)
            ),
        }
        _compare(got, right, mistakes)
    print("Right.")


def check_again(again: Answer) -> None:
    """Check the coverage loss of every step.

    Args:
        again: `again(weights)`, from (q, k) to (q,).
    """
    for weights in (
        np.array([[0.5, 0.5, 0.0], [0.2, 0.2, 0.6], [0.9, 0.1, 0.0]]),
        np.array([[1.0, 0.0], [0.25, 0.75]]),
    ):
        before = weights.cumsum(0) - weights
        shifted = np.vstack([np.zeros_like(weights[:1]), weights[:-1]])
        mistakes = {
            "the coverage of a step is the sum of the steps before, without its own": (
                np.minimum(weights, weights.cumsum(0)).sum(1)
            ),
            "the coverage sums all steps before, not the last one alone": (
                np.minimum(weights, shifted).sum(1)
            ),
            "the smaller of the two counts, place by place": np.maximum(weights, before).sum(1),
            "steps are rows: the coverage runs along the first axis": (
                np.minimum(weights, weights.cumsum(1) - weights).sum(1)
            ),
        }
        got = called(again, weights.copy())
        _compare(got, np.minimum(weights, before).sum(1), mistakes)
    print("Right.")


def check_rouge_l(rouge_l: Answer) -> None:
    """Check ROUGE-L, the F-measure of the longest common subsequence.

    Args:
        rouge_l: `rouge_l(summary, reference)`, from two lists of words to a number from 0 to 1.
    """
    for first, second in (("a b c d", "a x c d e f"), ("d c b a", "a b c d"), ("a", "b")):
        summary, reference = first.split(), second.split()
        got = as_number(called(rouge_l, list(summary), list(reference)))
        n = _common(summary, reference)
        shared = len(set(summary) & set(reference))
        precision, recall = n / len(summary), n / len(reference)
        right = 2 * n / (len(summary) + len(reference))
        mistakes = {
            "words in common count only as far as they keep their order": (
                2 * shared / (len(summary) + len(reference))
            ),
            "that is the recall: the F-measure joins it with the precision": recall,
            "that is the precision: the F-measure joins it with the recall": precision,
            "the F-measure is the harmonic mean": (precision + recall) / 2,
            "a subsequence may leave words out; yours is a row of neighbours": (
                2 * _neighbours(summary, reference) / (len(summary) + len(reference))
            ),
        }
        if not math.isclose(got, right, abs_tol=1e-9):
            for hint, wrong in mistakes.items():
                if math.isclose(got, wrong, abs_tol=1e-9):
                    fail(hint)
            fail(f"for {first!r} and {second!r} got {got:g}, which is not it")
    print("Right.")


def _mixed(p_vocab: Numbers, weights: Numbers, p_gen: float, source: Sequence[int]) -> Numbers:
    mixed = np.pad(p_gen * p_vocab, (0, 2))
    for weight, identity in zip(weights, source, strict=True):
        mixed[identity] += (1 - p_gen) * weight
    return mixed


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(second) + 1)
    for word in first:
        before = row
        row = [0]
        for place, other in enumerate(second):
            best = max(row[-1], before[place + 1])
            row.append(before[place] + 1 if word == other else best)
    return row[-1]


def _neighbours(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest row of neighbours that both have."""
    rows = {tuple(second[i:j]) for i in range(len(second)) for j in range(i + 1, len(second) + 1)}
    return max(
        (j - i for i in range(len(first)) for j in range(i, len(first) + 1)
         if tuple(first[i:j]) in rows), default=0,
    )  # fmt: skip


def _compare(got: Any, right: Numbers, mistakes: Mapping[str, Numbers]) -> None:
    try:
        found = np.asarray(got, dtype=np.float64)
    except (TypeError, ValueError):
        fail(f"got {named(got)}, wanted an array {right.shape}")
    if found.shape != right.shape:
        what = named(got) if found.ndim == 0 else f"shape {found.shape}"
        fail(f"got {what}, wanted an array {right.shape}")
    if not np.allclose(found, right, atol=1e-6):
        for hint, wrong in mistakes.items():
            if np.allclose(found, wrong, atol=1e-6):
                fail(hint)
        fail(f"got {found.round(3).tolist()}, which is not it")
