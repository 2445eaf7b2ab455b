"""Check functions of "The Transformer".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Expected, Numbers

PAD, BOS, EOS = 0, 1, 2


def check_reversed(reversed_alike: Answer) -> None:
    """Check a function that tells whether an encoder is blind to the order of its words.

    Args:
        reversed_alike: `reversed_alike(encode, x)`: whether `encode`, from vectors (b, n, e) to
            vectors (b, n, e), gives the same vectors in reversed order for x in reversed order.
    """
    x = torch.linspace(-1, 2, 30, dtype=torch.float64).reshape(2, 5, 3) ** 3

    def attends(y: Tensor) -> Tensor:
        return (y @ y.mT).softmax(-1) @ y

    def places(y: Tensor) -> Tensor:
        return attends(y + torch.arange(float(y.shape[1]))[:, None])

    def reads_on(y: Tensor) -> Tensor:
        return y.cumsum(1)

    def expected(encode: Answer, x: Tensor) -> Expected:
        blind = torch.allclose(encode(x.flip(1)), encode(x).flip(1))
        unmoved = torch.allclose(encode(x.flip(1)), encode(x))
        return float(blind), {
            "the output comes in reversed order, too: turn it back first": float(unmoved),
        }

    otherwise = "got {got:g} for one of three encoders: is it the words, axis 1, that you reverse?"
    cases = [(attends, x), (places, x), (reads_on, x)]
    answers.check(reversed_alike, cases, expected, otherwise=otherwise)


def check_by_hand(pre: Any, post: Any) -> None:
    """Check a sub-layer that doubles its input, in its residual, for x = (1, 3).

    Args:
        pre: (2,) x + f(norm(x)).
        post: (2,) norm(x + f(x)).
    """
    x = np.array([1.0, 3.0])

    def norm(y: Numbers) -> Numbers:
        spread: Numbers = (y - y.mean()) / y.std()
        return spread

    shared = {"x does not go around the sub-layer": 2 * norm(x), "that is no norm at all": 3 * x}
    of_pre = shared | {
        "this is the other order, post": norm(3 * x),
        "what goes around is x itself, not norm(x)": 3 * norm(x),
    }
    of_post = shared | {"this is the other order, pre": x + 2 * norm(x)}
    for name, given, wanted, mistakes in (
        ("pre", pre, x + 2 * norm(x), of_pre), ("post", post, norm(3 * x), of_post),
    ):  # fmt: skip
        numbers = answers.as_array(given, f"{name}: ", "(2,)")
        answers.compare(numbers, wanted, mistakes, where=f"{name}: ", atol=0.01)
    print("Right.")


def check_write(write: Answer) -> None:
    """Check a greedy decoder.

    Args:
        write: `write(step, state, most)`: the ids of the words, without start and end, where
            `step(last, state)` takes the id of the last word and gives the scores of all words,
            a tensor (w), and the next state; `most` is the greatest number of words.
    """
    follows = torch.tensor([2, 5, 2, 2, 6, 4, 2, 7])  # 1, the start, is followed by 5, 4, 6, 2

    def step(last: int, state: int) -> tuple[Tensor, int]:
        scores = torch.arange(8.0) / 10
        scores[follows[last] if state < 4 else EOS] = 1.0
        return scores, state + 1

    wrong = {
        "the end is no word: leave it out": [5, 4, 6, EOS],
        "the start is no word: leave it out": [BOS, 5, 4, 6],
        "every step begins with the start: hand on the word that was written last": [5] * 4,
    }
    for most, wanted in ((9, [5, 4, 6]), (2, [5, 4])):
        got = answers.called(write, step, 0, most)
        where = f"at most {most} words: "
        if not isinstance(got, list | tuple) or not got:
            answers.fail(f"{where}got {got!r}, wanted a list of ids")
        found = [int(answers.as_number(one)) for one in got]
        if len(found) > most:
            answers.fail(f"{where}got {len(found)} of them")
        hint = next((why for why, ids in wrong.items() if ids in (found, found[:4])), "")
        if found != wanted:
            answers.fail(f"{where}{hint or f'got {found}, wanted {wanted}'}")
    print("Right.")


def check_shift(shift: Answer) -> None:
    """Check what a decoder reads, what it is to predict, and where that counts.

    Args:
        shift: `shift(sentences)`, from lists of ids to three (b, q) tensors: what the decoder
            reads, what it is to write, and a boolean mask of where a prediction counts; padding
            is 0, the start 1, the end 2.
    """
    sentences = [[5, 6, 7], [8], [9, 10]]
    alone = torch.tensor([[5, 6, 7], [8, 0, 0], [9, 10, 0]])
    read = torch.tensor([[1, 5, 6, 7], [1, 8, 0, 0], [1, 9, 10, 0]])
    write = torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0], [9, 10, 2, 0]])
    end_last = torch.tensor([[5, 6, 7, 2], [8, 0, 0, 2], [9, 10, 0, 2]])
    end_read = torch.tensor([[1, 5, 6, 7, 2], [1, 8, 2, 0, 0], [1, 9, 10, 2, 0]])
    counts = write != PAD
    of_read = {
        "the decoder reads the word that it is to write: copying is all it will learn. Put the "
        "start in front, and every word moves one place": write,
        "the end is read, too: nothing is written after it": end_read,
        "the start is missing": alone,
    }
    of_write = {
        "the start is never written": read,
        "the end has to be written: without it a translation never stops": alone,
        "the end stands behind the last word, not behind the padding": end_last,
    }
    of_mask = {
        "True is where a prediction counts, False where there is padding": ~counts,
        "padding counts, too": torch.ones_like(counts),
        "the end counts: it has to be predicted": counts & (write != EOS),
        "it follows what is written, not what is read: a padded place may still have a word "
        "to be written": (read != PAD) & (read != BOS),
    }
    parts = {"read": (read, of_read), "write": (write, of_write), "mask": (counts, of_mask)}
    wanted = "three tensors: what is read, what is written, the mask"
    answers.compare_parts(answers.called(shift, sentences), parts, wanted)
    print("Right.")
