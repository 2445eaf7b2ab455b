"""The exercises of the evidence of "A name it cannot say"."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bookkit.exercises.answers import Numbers, refuse
from bookkit.exercises.exercise import Function


def _number(words: list[str], vocab: dict[str, int]) -> list[int]:
    unknown = dict.fromkeys(word for word in words if word not in vocab)
    ids = vocab | {word: len(vocab) + i for i, word in enumerate(unknown)}
    return [ids[word] for word in words]


def _ids(got: Any, *_: Any) -> list[int]:
    try:
        return [int(identity) for identity in got]
    except (TypeError, ValueError):
        refuse(got, "a list of ids")


VOCAB = {"beat": 0, "and": 1, ",": 2}

check_number = Function(
    "`number(words, vocab)`, from words and a dictionary of ids 0 to V - 1, to a list of ids: "
    "known words as in the dictionary, the others from V on as they come.",
    right=_number, cases=[
        (["toral", "beat", "mikuno", ",", "toral", "and", "vobis"], VOCAB),
        (["and", "and", "vobis"], VOCAB),
    ], mistakes={
        "a word that comes twice has one id: copying adds up its places":
            lambda w, v: [
                v.get(x, len(v) + sum(y not in v for y in w[:i])) for i, x in enumerate(w)
            ],
        "the first new id is V, the number of known words":
            lambda w, v: [i + (x not in v) for i, x in zip(_number(w, v), w, strict=True)],
        "all unknown words have the same id: nothing could be copied":
            lambda words, vocab: [vocab.get(word, len(vocab)) for word in words],
    }, examples={
        "your function changes the dictionary":
            lambda w, v: [v.setdefault(x, len(v)) for x in w],
        "for 'toral beat mikuno , toral and vobis' got [0], which is not it": lambda *_: [0],
    }, read=_ids,
    untouched="your function changes the dictionary: the next sentence has other unknown words",
    otherwise=lambda ids, words, _: f"for {' '.join(words)!r} got {ids}, which is not it",
)  # fmt: skip


NOT_IT = "got {got}, which is not it"


def _before(weights: Numbers, axis: int = 0) -> Numbers:
    return weights.cumsum(axis) - weights


def _shared(weights: Numbers, coverage: Numbers) -> Numbers:
    return np.asarray(np.minimum(weights, coverage).sum(1))


LISTED = [[0.5, 0.5, 0.0], [0.2, 0.2, 0.6], [0.9, 0.1, 0.0]], [[1.0, 0.0], [0.25, 0.75]]

check_again = Function(
    "`again(weights)`, the coverage loss of every step, from (q, k) to (q,).",
    right=lambda weights: _shared(weights, _before(weights)),
    cases=[(np.array(weights),) for weights in LISTED], mistakes={
        "the coverage of a step is the sum of the steps before, without its own":
            lambda w: _shared(w, w.cumsum(0)),
        "the coverage sums all steps before, not the last one alone":
            lambda w: _shared(w, np.vstack([0 * w[:1], w[:-1]])),
        "the smaller of the two counts, place by place": lambda w: np.maximum(w, _before(w)).sum(1),
        "steps are rows: the coverage runs along the first axis":
            lambda w: _shared(w, _before(w, axis=1)),
    }, otherwise=NOT_IT, atol=1e-6,
)  # fmt: skip


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(second) + 1)
    for word in first:
        before, row = row, [0]
        for j, other in enumerate(second):
            row.append(before[j] + 1 if word == other else max(row[-1], before[j + 1]))
    return row[-1]


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    n = len(words)
    return {tuple(words[i:j]) for i in range(n) for j in range(i + 1, n + 1)}


def _f(common: int, summary: list[str], reference: list[str]) -> float:
    return 2 * common / (len(summary) + len(reference))


check_rouge_l = Function(
    "`rouge_l(summary, reference)`, ROUGE-L, the F-measure of the longest common subsequence, from "
    "two lists of words to a number from 0 to 1.",
    right=lambda *texts: _f(_common(*texts), *texts), cases=[
        (["a", "b", "c", "d"], ["a", "x", "c", "d", "e", "f"]),
        (["d", "c", "b", "a"], ["a", "b", "c", "d"]), (["a"], ["b"]),
    ], mistakes={
        "words in common count only as far as they keep their order":
            lambda s, r: _f(len({*s} & {*r}), s, r),
        "that is the recall: the F-measure joins it with the precision":
            lambda s, r: _common(s, r) / len(r),
        "that is the precision: the F-measure joins it with the recall":
            lambda s, r: _common(s, r) / len(s),
        "the F-measure is the harmonic mean":
            lambda s, r: _common(s, r) * (1 / len(s) + 1 / len(r)) / 2,
        "a subsequence may leave words out; yours is a row of neighbours":
            lambda s, r: _f(max(map(len, _runs(s) & _runs(r)), default=0), s, r),
    }, otherwise="for {} and {} got {got:g}, which is not it", rtol=1e-9, atol=1e-9,
)  # fmt: skip
