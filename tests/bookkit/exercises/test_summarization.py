"""The check functions of "Summarization": wrong gets the hint at its cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bookkit.exercises.summarization import (
    check_again,
    check_mix,
    check_number,
    check_rouge_l,
)
from companion.metrics import rouge

Answer = Callable[..., Any]


def number(words: list[str], vocab: dict[str, int]) -> list[int]:
    new = list(dict.fromkeys(word for word in words if word not in vocab))
    return [vocab[w] if w in vocab else len(vocab) + new.index(w) for w in words]


def mix(p_vocab: Any, weights: Any, p_gen: float, source: list[int], size: int) -> Any:
    final = np.zeros(size)
    final[: len(p_vocab)] = p_gen * p_vocab
    np.add.at(final, source, (1 - p_gen) * weights)
    return final


def overwritten(p_vocab: Any, weights: Any, p_gen: float, source: list[int], size: int) -> Any:
    final = np.zeros(size)
    final[: len(p_vocab)] = p_gen * p_vocab
    final[source] += (1 - p_gen) * weights
    return final


def replaced(p_vocab: Any, weights: Any, p_gen: float, source: list[int], size: int) -> Any:
    final = mix(p_vocab * 0, weights, p_gen, source, size)
    generated = mix(p_vocab, weights * 0, p_gen, source, size)
    return np.where(final > 0, final, generated)


def again(weights: Any, *, own: bool = False, least: Any = np.minimum) -> Any:
    return [
        least(weights[i], weights[: i + own].sum(0)).sum()
        if i + own
        else least(weights[i], 0).sum()
        for i in range(len(weights))
    ]


def rouge_l(summary: list[str], reference: list[str]) -> float:
    return rouge([summary], [reference])["rouge-l"] / 100


def shared(summary: list[str], reference: list[str]) -> int:
    return len(set(summary) & set(reference))


@pytest.mark.parametrize(
    ("check", "answer"),
    [(check_number, number), (check_mix, mix), (check_again, again), (check_rouge_l, rouge_l)],
    ids=["number", "mix", "again", "rouge"],
)
def test_the_right_answer_passes(
    check: Answer, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    check(answer)
    assert capsys.readouterr().out == "Right.\n"


def growing(words: list[str], vocab: dict[str, int]) -> list[int]:
    return [vocab.setdefault(word, len(vocab)) for word in words]


def one_a_place(words: list[str], vocab: dict[str, int]) -> list[int]:
    ids, following = [], len(vocab)
    for word in words:
        ids.append(vocab.get(word, following))
        following += word not in vocab
    return ids


WRONG: list[tuple[Answer, Answer, str]] = [
    (check_number, growing, "changes the dictionary"),
    (check_number, one_a_place, "a word that comes twice has one id"),
    (
        check_number,
        lambda w, v: [i + (i >= len(v)) for i in number(w, v)],
        "the first new id is V",
    ),
    (check_number, lambda w, v: [v.get(x, len(v)) for x in w], "nothing could be copied"),
    (check_number, lambda w, v: [0] * len(w), "which is not it"),
    (check_number, lambda w, v: None, "end in a return"),
    (check_mix, lambda p, a, g, s, n: mix(p, a, 1 - g, s, n), "copying has the rest"),
    (check_mix, overwritten, "stands at two places"),
    (check_mix, replaced, "on top of what the vocabulary gives"),
    (
        check_mix,
        lambda p, a, g, s, n: mix(g * p, a, 1, s, n) + mix(p * 0, a, 0, s, n),
        "not multiplied by 1 - p_gen",
    ),
    (check_mix, lambda p, a, g, s, n: mix(p, a, g, s, n)[:3], r"got shape \(3,\)"),
    (check_mix, lambda p, a, g, s, n: np.zeros(n), "which is not it"),
    (check_mix, lambda p, a, g, s, n: "a", "got 'a', wanted an array"),
    (check_again, lambda a: again(a, own=True), "without its own"),
    (
        check_again,
        lambda a: np.minimum(a, np.vstack([a[:1] * 0, a[:-1]])).sum(1),
        "not the last one alone",
    ),
    (check_again, lambda a: again(a, least=np.maximum), "the smaller of the two"),
    (check_again, lambda a: np.minimum(a, a.cumsum(1) - a).sum(1), "steps are rows"),
    (check_again, lambda a: a, r"got shape \(3, 3\), wanted \(3,\)"),
    (
        check_rouge_l,
        lambda s, r: 2 * shared(s, r) / (len(s) + len(r)),
        "as far as they keep their order",
    ),
    (check_rouge_l, lambda s, r: rouge_l(s, r) * (len(s) + len(r)) / 2 / len(r), "the recall"),
    (check_rouge_l, lambda s, r: rouge_l(s, r) * (len(s) + len(r)) / 2 / len(s), "the precision"),
    (
        check_rouge_l,
        lambda s, r: rouge_l(s, r) * (len(s) + len(r)) / 4 * (1 / len(s) + 1 / len(r)),
        "harmonic mean",
    ),
    (check_rouge_l, lambda s, r: 4 / 10 if len(s) < len(r) else rouge_l(s, r), "neighbours"),
    (check_rouge_l, lambda s, r: 0.123, "which is not it"),
    (check_rouge_l, lambda s, r: None, "end in a return"),
]


@pytest.mark.parametrize(("check", "answer", "hint"), WRONG, ids=[hint for _, _, hint in WRONG])
def test_a_wrong_answer_gets_the_hint_at_its_cause(
    check: Answer, answer: Answer, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(answer)
    assert capsys.readouterr().out == ""
