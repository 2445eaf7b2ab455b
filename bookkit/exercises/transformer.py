"""The exercises of "The Transformer"."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from bookkit.exercises.answers import Answer, Numbers, Sign, as_number, fail
from bookkit.exercises.exercise import Function, Several, Value, Verdict

PAD, BOS, EOS = 0, 1, 2


def _attends(y: Tensor) -> Tensor:
    return (y @ y.mT).softmax(-1) @ y


X = torch.linspace(-1, 2, 30, dtype=torch.float64).reshape(2, 5, 3) ** 3
WHICH = "got True for an encoder that sees the order: did you reverse the words, axis 1?"

check_reversed = Verdict(
    "`reversed_alike(encode, x)`, whether an encoder is blind to the order of its words: whether "
    "`encode`, from vectors (b, n, e) to vectors (b, n, e), gives the same vectors in reversed "
    "order for x in reversed order.",
    suspects=[
        ((_attends, X), 1, "the output is in reversed order, too: turn it back first"),
        ((lambda y: _attends(y + torch.arange(5.0)[:, None]), X), 0, WHICH),
        ((lambda y: y.cumsum(1), X), 0, WHICH),
    ],
    read=as_number,
)


def _norm(y: Numbers) -> Any:
    return (y - y.mean()) / y.std()


def _sub_layer(name: str, right: Numbers, mistakes: dict[str, Numbers]) -> Value:
    return Value(
        f"(2,) {name}.",
        right=right, mistakes={
            "the input has to go around the sub-layer: add it": 2 * _norm(ONE),
            "the norm is missing": 3 * ONE,
            **mistakes,
        }, axes="(2,)", atol=0.01,
    )  # fmt: skip


ONE = np.array([1.0, 3.0])
PRE, POST = ONE + 2 * _norm(ONE), _norm(3 * ONE)

check_by_hand = Several(
    "A sub-layer that doubles its input, in its residual, for x = (1, 3).",
    pre=_sub_layer("x + f(norm(x))", PRE, {
        "this is the other order, post": POST,
        "what goes around is x itself, not norm(x)": 3 * _norm(ONE),
    }),
    post=_sub_layer("norm(x + f(x))", POST, {"this is the other order, pre": PRE}),
)  # fmt: skip

FOLLOWS = torch.tensor([2, 5, 2, 2, 6, 4, 2, 7])  # 1, the start, is followed by 5, 4, 6, 2


def _scores_after(last: int, state: int) -> tuple[Tensor, int]:
    scores = torch.arange(8.0) / 10
    scores[FOLLOWS[last] if state < 4 else EOS] = 1.0
    return scores, state + 1


def _written(got: Any, step: Answer, state: int, most: int) -> list[int]:
    where = f"at most {most} words: "
    if not isinstance(got, list | tuple) or not got:
        fail(f"{where}got {got!r}, wanted a list of ids")
    if len(got) > most:
        fail(f"{where}got {len(got)} of them")
    return [int(as_number(one)) for one in got]


check_write = Function(
    "`write(step, state, most)`, a greedy decoder: the ids of the words, without start and end, "
    "where `step(last, state)` takes the id of the last word and gives the scores of all words, "
    "a tensor (w), and the next state; `most` is the greatest number of words.",
    right=lambda step, state, most: [5, 4, 6][:most],
    cases=[(_scores_after, 0, 9), (_scores_after, 0, 2)], mistakes={
        "leave out the end, which is not a word": lambda step, state, most: [5, 4, 6, EOS],
        "leave out the start, which is not a word": lambda step, state, most: [BOS, 5, 4, 6],
        "every step begins with the start: give it the word that was written last": Sign(
            lambda found, *_: found[:4] == [5] * 4, lambda step, state, most: [5] * most
        ),
    }, examples={
        "at most 2 words: got 3 of them": lambda step, state, most: [5, 4, 6],
        "at most 9 words: got [7], wanted [5, 4, 6]": lambda step, state, most: [7],
    }, read=_written, where="at most {2} words: ", otherwise="got {got}, wanted {wanted}",
)  # fmt: skip


def _padded(
    sentences: list[list[int]], first: int | None = None, last: int | None = None
) -> Tensor:
    """Put an id before each sentence, and one behind it, and fill them up."""
    before, behind = ([] if one is None else [one] for one in (first, last))
    rows = [torch.tensor([*before, *words, *behind]) for words in sentences]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)


def _read(sentences: list[list[int]]) -> Tensor:
    return _padded(sentences, first=BOS)


def _write(sentences: list[list[int]]) -> Tensor:
    return _padded(sentences, last=EOS)


check_shift = Function(
    "`shift(sentences)`, from lists of ids to three (b, q) tensors: what a decoder reads, what it "
    "is to write, and a boolean mask of where a prediction counts; padding is 0, the start 1, the "
    "end 2.",
    right=lambda sentences: (_read(sentences), _write(sentences), _write(sentences) != PAD),
    cases=[([[5, 6, 7], [8], [9, 10]],)], parts={
        "read": {
            "the decoder reads the word that it has to write, so it will learn to copy. Put the "
            "start in front, and every word moves by one position": _write,
            "the end is never read: nothing comes after it": lambda s: _padded(s, BOS, EOS),
            "the start is missing": _padded,
        },
        "write": {
            "the start is never written": _read,
            "the end has to be written: without it a translation never stops": _padded,
            "the end comes right after the last word, not after the padding":
                lambda s: torch.nn.functional.pad(_padded(s), (0, 1), value=EOS),
        },
        "mask": {
            "True is where a prediction counts, False where there is padding":
                lambda s: _write(s) == PAD,
            "padding does not count": lambda s: _write(s) >= PAD,
            "the end counts, because it has to be predicted": lambda s: _write(s) > EOS,
            "it marks what is written, not what is read: where padding is read, the end may still "
            "have to be written": lambda s: _read(s) > BOS,
        },
    }, kind="three tensors: what is read, what is written, the mask",
)  # fmt: skip
