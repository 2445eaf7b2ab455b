"""Check functions of "The Transformer".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from companion.pages.exercises.answers import as_number, called, fail, named

PAD, BOS, EOS = 0, 1, 2


def check_weights(count: Answer) -> None:
    """Check a count of the weights of the paper's model.

    Args:
        count: `count(words, e, hidden, layers)`: blocks in encoder and decoder each, one matrix
            for both embeddings and the output, biases in the feed-forward layers alone, a norm
            with gain and bias after every sub-layer.
    """
    for words, e, hidden, layers in ((11, 6, 17, 3), (37_000, 512, 2048, 6)):
        attention, products = 4 * e * e, 2 * e * hidden
        biases, norm = e + hidden, 2 * e
        block = 3 * attention + 2 * (products + biases) + 5 * norm
        right = words * e + layers * block
        mistakes = {
            layers * block: "the embedding has weights, too",
            right + words * e: "one matrix serves both embeddings and the output: the words count "
            "once, not twice",
            right + 2 * words * e: "one matrix serves both embeddings and the output: the words "
            "count once, not three times",
            right - layers * attention: "a block of the decoder has two attentions: itself and the "
            "memory",
            right - 2 * layers * biases: "the feed-forward layers have biases: hidden of them in "
            "the middle, e at the end",
            right - 5 * layers * norm: "every sub-layer has a norm, with e gains and e biases",
            right - 5 * layers * e: "a norm has e gains and e biases",
            right - layers * norm: "the decoder's block has three sub-layers, so three norms",
            right - 3 * layers * e * e: "an attention has four matrices: query, key, value, output",
            words * e
            + block: "there are `layers` blocks in the encoder and as many in the decoder",
        }
        number = as_number(called(count, words, e, hidden, layers))
        if not math.isclose(number, right):
            for wrong, hint in mistakes.items():
                if math.isclose(number, wrong):
                    fail(hint)
            fail(f"count({words}, {e}, {hidden}, {layers}): got {number:g}, which is not it")
    print("Right.")


def check_orders(pre: Answer, post: Answer) -> None:
    """Check where the norm of a sub-layer stands.

    Args:
        pre: `pre(x, f, norm)`, a residual whose sub-layer reads what is normalised.
        post: `post(x, f, norm)`, a residual that is normalised as a whole.
    """
    x = torch.linspace(-2, 3, 15, dtype=torch.float64).reshape(3, 5) ** 2

    def f(y: Tensor) -> Tensor:
        return 0.3 * y.flip(-1) + 0.1 * y * y

    def norm(y: Tensor) -> Tensor:
        return torch.nn.functional.layer_norm(y, y.shape[-1:])

    before, after = x + f(norm(x)), norm(x + f(x))
    shared = {
        "x + norm(f(x)) normalises what the sub-layer gives: neither order": x + norm(f(x)),
        "x does not go around the sub-layer": f(norm(x)),
        "x does not go around the sub-layer, and the norm": norm(f(x)),
        "no norm at all": x + f(x),
    }
    for name, function, wanted, mistakes in (
        (
            "pre",
            pre,
            before,
            {
                "this is the other order, post": after,
                "what goes around is x itself, not norm(x): else no path is free of norms": norm(x)
                + f(norm(x)),
            },
        ),
        (
            "post",
            post,
            after,
            {
                "this is the other order, pre": before,
                "the sum is normalised, not each of its terms": norm(x) + norm(f(x)),
            },
        ),
    ):
        got = called(function, x.clone(), f, norm)
        _compare(_tensor(got, name), wanted, {**shared, **mistakes}, name)
    print("Right.")


def check_shift(shift: Answer) -> None:
    """Check what a decoder reads, what it is to predict, and where that counts.

    Args:
        shift: `shift(sentences)`, from lists of ids to three (b, q) tensors: what the decoder
            reads, what it is to write, and a boolean mask of where a prediction counts; padding
            is 0, the start 1, the end 2.
    """
    sentences = [[5, 6, 7], [8], [9, 10]]
    read = torch.tensor([[1, 5, 6, 7], [1, 8, 0, 0], [1, 9, 10, 0]])
    write = torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0], [9, 10, 2, 0]])
    counts = write != PAD
    got = called(shift, [list(sentence) for sentence in sentences])
    if not isinstance(got, tuple | list) or len(got) != 3:
        fail(f"got {named(got)}, wanted three tensors: what is read, what is written, the mask")
    hints = {
        "read": {
            "the decoder reads the word that it is to write: copying is all it will learn. Put the "
            "start in front, and every word moves one place": write,
            "the end is read, too: nothing is written after it": torch.tensor(
                [[1, 5, 6, 7, 2], [1, 8, 2, 0, 0], [1, 9, 10, 2, 0]]
            ),
            "the start is missing": torch.tensor([[5, 6, 7], [8, 0, 0], [9, 10, 0]]),
        },
        "write": {
            "the start is never written": read,
            "the end has to be written: without it a translation never stops": torch.tensor(
                [[5, 6, 7], [8, 0, 0], [9, 10, 0]]
            ),
            "the end stands behind the last word, not behind the padding": torch.tensor(
                [[5, 6, 7, 2], [8, 0, 0, 2], [9, 10, 0, 2]]
            ),
        },
        "mask": {
            "True is where a prediction counts, False where there is padding": ~counts,
            "padding counts, too": torch.ones_like(counts),
            "the end counts: it has to be predicted": (write != PAD) & (write != EOS),
            "it follows what is written, not what is read: a padded place may still have a word "
            "to be written": (read != PAD) & (read != BOS),
        },
    }
    for one, wanted, (name, mistakes) in zip(
        got, (read, write, counts), hints.items(), strict=True
    ):
        _compare(_tensor(one, name), wanted, mistakes, name)
    print("Right.")


def check_torch_masks(masks: Answer) -> None:
    """Check masks for `nn.Transformer`, in which True forbids.

    Args:
        masks: `masks(lengths, k, q)`, from the numbers of source words (b,) to the three masks
            `tgt_mask` (q, q), `src_key_padding_mask` (b, k) and `memory_key_padding_mask` (b, k).
    """
    k, q = 7, 5
    lengths = torch.tensor([3, 7, 1])
    padding = torch.arange(k) >= lengths[:, None]
    later = torch.arange(q) > torch.arange(q)[:, None]
    got = called(masks, lengths.clone(), k, q)
    if not isinstance(got, tuple | list) or len(got) != 3:
        fail(f"got {named(got)}, wanted three masks")
    polarity = "here True forbids; this mask allows where it should forbid"
    future = {
        polarity: ~later,
        "the diagonal is forbidden, too: a place may look at itself, or the first sees nothing": (
            later | torch.eye(q, dtype=torch.bool)
        ),
        "the past is forbidden, not the future": later.mT,
    }
    ends = {
        polarity: ~padding,
        "one place too few is left out: the last word has number length - 1": (
            torch.arange(k) > lengths[:, None]
        ),
    }
    names = ("tgt_mask", "src_key_padding_mask", "memory_key_padding_mask")
    wanted = ((later, future), (padding, ends), (padding, ends))
    for one, (mask, mistakes), name in zip(got, wanted, names, strict=True):
        _compare(_tensor(one, name), mask, mistakes, name)
    print("Right.")


def _tensor(got: Any, name: str) -> Tensor:
    if not isinstance(got, Tensor):
        fail(f"{name}: got {named(got)}, wanted a tensor")
    return got


def _compare(got: Tensor, wanted: Tensor, mistakes: dict[str, Tensor], name: str) -> None:
    """Fail with the hint of the known wrong tensor that was given, if it is one."""
    if _same(got, wanted):
        return
    for hint, wrong in mistakes.items():
        if _same(got, wrong):
            fail(f"{name}: {hint}")
    if got.shape != wanted.shape:
        fail(f"{name}: got shape {tuple(got.shape)}, wanted {tuple(wanted.shape)}")
    fail(f"{name}: the shape is right, the numbers are not")


def _same(got: Tensor, other: Tensor) -> bool:
    return got.shape == other.shape and torch.allclose(got.double(), other.double())
