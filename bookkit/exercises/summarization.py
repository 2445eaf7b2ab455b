"""Check functions of "Summarization".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Expected, Numbers, fail

NOT_IT = "got {got}, which is not it"


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
        # It gets this very dictionary, not a copy, to see whether it changes it.
        got = answers.called(partial(answers.as_function(number), list(words), given))
        if given != vocab:
            fail("your function changes the dictionary: the next sentence has other unknown words")
        try:
            ids = [int(identity) for identity in got]
        except (TypeError, ValueError):
            answers.refuse(got, "a list of ids")
        if ids == right:
            continue
        unknown = [word not in vocab for word in words]
        no_repeats = [vocab.get(word, 3 + sum(unknown[:i])) for i, word in enumerate(words)]
        one_late = [i + new for i, new in zip(right, unknown, strict=True)]
        one_id = [vocab.get(word, 3) for word in words]
        mistakes = {
            "a word that comes twice has one id: copying adds up its places": no_repeats,
            "the first new id is V, the number of known words": one_late,
            "all unknown words have the same id: nothing could be copied": one_id,
        }
        answers.hint_at(ids, mistakes)
        fail(f"for {text!r} got {ids}, which is not it")
    print("Right.")


def check_mix(mix: Answer) -> None:
    """Check the final distribution of a step.

    Args:
        mix: `mix(p_vocab, weights, p_gen, source, size)`, from arrays (V,) and (k,), a number, a
            list of k ids and the number of ids, to an array (size,).
    """

    def expected(
        p_vocab: Numbers, weights: Numbers, p_gen: float, source: list[int], size: int
    ) -> Expected:
        mixed, swapped = (_mixed(p_vocab, weights, p, source) for p in (p_gen, 1 - p_gen))
        generated = np.pad(p_gen * p_vocab, (0, 2))
        unscaled = generated + _mixed(p_vocab * 0, weights, 0.0, source)
        in_its_place = mixed - generated * np.isin(np.arange(size), source)
        last_weight = generated.copy()
        for position, identity in enumerate(source):
            last_weight[identity] = (1 - p_gen) * weights[position] + generated[identity]
        return mixed, {
            "p_gen is the probability of generating; copying has the rest": swapped,
            "a word that stands at two places has the weights of both": last_weight,
            "the weights come on top of what the vocabulary gives, not in its place": in_its_place,
            "the weights are not multiplied by 1 - p_gen": unscaled,
        }

    given = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.4, 0.3, 0.2])
    cases = [(*given, 0.8, [3, 1, 3, 4], 5), (*given, 0.3, [0, 4, 4, 3], 5)]
    answers.check(mix, cases, expected, otherwise=NOT_IT, atol=1e-6)


def check_again(again: Answer) -> None:
    """Check the coverage loss of every step.

    Args:
        again: `again(weights)`, from (q, k) to (q,).
    """

    def expected(weights: Numbers) -> Expected:
        def loss(coverage: Numbers) -> Numbers:
            return np.asarray(np.minimum(weights, coverage).sum(1))

        before, along_keys = weights.cumsum(0) - weights, weights.cumsum(1) - weights
        last = np.vstack([np.zeros_like(weights[:1]), weights[:-1]])
        own = "the coverage of a step is the sum of the steps before, without its own"
        return loss(before), {
            own: loss(weights.cumsum(0)),
            "the coverage sums all steps before, not the last one alone": loss(last),
            "the smaller of the two counts, place by place": np.maximum(weights, before).sum(1),
            "steps are rows: the coverage runs along the first axis": loss(along_keys),
        }

    listed = [[0.5, 0.5, 0.0], [0.2, 0.2, 0.6], [0.9, 0.1, 0.0]], [[1.0, 0.0], [0.25, 0.75]]
    cases = [(np.array(weights),) for weights in listed]
    answers.check(again, cases, expected, otherwise=NOT_IT, atol=1e-6)


def check_rouge_l(rouge_l: Answer) -> None:
    """Check ROUGE-L, the F-measure of the longest common subsequence.

    Args:
        rouge_l: `rouge_l(summary, reference)`, from two lists of words to a number from 0 to 1.
    """

    def expected(summary: list[str], reference: list[str]) -> Expected:
        n, words = _common(summary, reference), len(summary) + len(reference)
        precision, recall = n / len(summary), n / len(reference)
        without_order = 2 * len(set(summary) & set(reference)) / words
        unbroken = 2 * _neighbours(summary, reference) / words
        return 2 * n / words, {
            "words in common count only as far as they keep their order": without_order,
            "that is the recall: the F-measure joins it with the precision": recall,
            "that is the precision: the F-measure joins it with the recall": precision,
            "the F-measure is the harmonic mean": (precision + recall) / 2,
            "a subsequence may leave words out; yours is a row of neighbours": unbroken,
        }

    cases = [
        (["a", "b", "c", "d"], ["a", "x", "c", "d", "e", "f"]),
        (["d", "c", "b", "a"], ["a", "b", "c", "d"]),
        (["a"], ["b"]),
    ]
    otherwise = "for {} and {} got {got:g}, which is not it"
    answers.check(rouge_l, cases, expected, otherwise=otherwise, rtol=1e-9, atol=1e-9)


def _mixed(p_vocab: Numbers, weights: Numbers, p_gen: float, source: Sequence[int]) -> Numbers:
    mixed = np.pad(p_gen * p_vocab, (0, 2))
    for weight, identity in zip(weights, source, strict=True):
        mixed[identity] += (1 - p_gen) * weight
    return mixed


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(second) + 1)
    for word in first:
        before, row = row, [0]
        for j, other in enumerate(second):
            row.append(before[j] + 1 if word == other else max(row[-1], before[j + 1]))
    return row[-1]


def _neighbours(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest row of neighbours that both have."""
    shared = _runs(first) & _runs(second)
    return max((len(run) for run in shared), default=0)


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    n = len(words)
    return {tuple(words[i:j]) for i in range(n) for j in range(i + 1, n + 1)}
