"""Check functions of "The founding notebook, corrected".

Each calls your function, compares what it gives with a computation of its own, and prints "Right."
or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, fail

Predict = Callable[[Tensor], Tensor]
"""Takes decoder inputs (b, q) and gives logits (b, q, vocabulary)."""


def check_pairwise_scores(score: Answer) -> None:
    """Check additive scores of every query against every key.

    Args:
        score: `score(query, key, query_weight, key_weight, vector)`, from (b, q, d), (b, k, d),
            (d, hidden), (d, hidden) and (hidden,) to (b, q, k).
    """
    b, q, k, d, hidden = 2, 3, 5, 7, 11
    draw = torch.Generator().manual_seed(0)
    shapes = (b, q, d), (b, k, d), (d, hidden), (d, hidden), (hidden,)
    given = [torch.randn(*shape, generator=draw) for shape in shapes]
    query, key, query_weight, key_weight, vector = given
    sums = torch.stack([query[:, [i]] @ query_weight + key @ key_weight for i in range(q)], 1)
    right = torch.tanh(sums) @ vector
    swapped = (query @ key_weight)[:, :, None] + (key @ query_weight)[:, None]
    mistakes = {
        "the two words are mixed up: rows are queries, columns are keys": right.mT,
        "those are weights: leave the softmax to the next step": right.softmax(-1),
        "there is a last axis of size 1 too many": right[..., None],
        "the tanh is missing": sums @ vector,
        "v is missing: those are the hidden values, not yet scores": torch.tanh(sums),
        "W belongs to the queries and U to the keys": torch.tanh(swapped) @ vector,
    }
    why = "Does every query meet every key on axes of its own?"
    answers.check_call(
        score, given, right, mistakes, why=why, axes="(b, q, k)", rtol=1e-4, atol=1e-5
    )


def check_shift(shift: Answer) -> None:
    """Check what a decoder reads and what it must say.

    Args:
        shift: `shift(target, bos_id, eos_id)`, from (b, q) ids padded with 0 at the end to the
            pair (target_in, target_out), each (b, q + 1).
    """
    target = torch.tensor([[5, 7, 6, 4, 9], [8, 5, 0, 0, 0], [9, 6, 7, 0, 0]])
    bos, eos = 1, 2
    wanted_in = torch.tensor([[1, 5, 7, 6, 4, 9], [1, 8, 5, 0, 0, 0], [1, 9, 6, 7, 0, 0]])
    wanted_out = torch.tensor([[5, 7, 6, 4, 9, 2], [8, 5, 2, 0, 0, 0], [9, 6, 7, 2, 0, 0]])
    got = answers.called(shift, target, bos, eos, why="Can one row be shorter than another?")
    read, said = answers.as_parts(got, 2, "a pair (target_in, target_out)")
    if _equal(read, said):
        fail("the decoder reads the very words that it must say: shift one against the other")
    if _equal(read, wanted_out) and _equal(said, wanted_in):
        fail("the two are swapped: <bos> is read, <eos> is said")
    late, endless = (torch.cat((target, torch.full((3, 1), last)), 1) for last in (eos, 0))
    from_padding = wanted_in.masked_fill(wanted_in == bos, 0)
    of_read = {
        "without <bos> the decoder has nothing to read at its first step": target,
        "it starts with <bos>, not with padding": from_padding,
        "the last word of every sentence is cut off": wanted_in[:, :-1],
    }
    of_said = {
        "<eos> stands behind the padding; it follows the last word": late,
        "without <eos> the decoder never learns to stop": endless,
        "it is one longer than the sentence, the words and then <eos>": target,
    }
    parts = {"target_in": (wanted_in, of_read), "target_out": (wanted_out, of_said)}
    answers.compare_parts(got, parts, "a pair", axes="(b, q + 1)", rtol=1e-4, atol=1e-5)
    print("Right.")


def _equal(one: Any, other: Any) -> bool:
    tensors = isinstance(one, Tensor) and isinstance(other, Tensor)
    return tensors and torch.equal(one, other)


def check_masked_loss(loss: Answer) -> None:
    """Check a cross-entropy that leaves padding out.

    Args:
        loss: `loss(logits, target_out, lengths)`, from (b, q, vocabulary), (b, q) and (b,) to the
            mean cross-entropy of the tokens that are no padding, a scalar tensor.
    """
    b, q, vocabulary = 3, 5, 7
    draw = torch.Generator().manual_seed(1)
    logits = 3 * torch.randn(b, q, vocabulary, generator=draw)
    lengths = torch.tensor([5, 1, 2])
    # A token may have any id: 0 among the words shows who masks by id instead of by length.
    target = torch.tensor([[3, 0, 5, 2, 6], [4, 0, 0, 0, 0], [1, 6, 0, 0, 0]])
    each = -logits.log_softmax(-1).gather(-1, target[..., None])[..., 0]
    words = torch.arange(q) < lengths[:, None]
    real, padding, not_zero = each[words], each[~words], each[target != 0]
    sentences = torch.stack([row[own].mean() for row, own in zip(each, words, strict=True)])
    mistakes = {
        "padding is counted: that is the mean over all places": each.mean(),
        "that is the sum; divide by the number of real tokens": real.sum(),
        "padding is left out of the sum, but not of the number you divide by": real.sum() / (b * q),
        "a mean of the sentences' means weighs the words of short sentences more": sentences.mean(),
        "the mask comes from the ids: here 0 is a word, too; use the lengths": not_zero.mean(),
        "only padding is counted: the mask is upside down": padding.mean(),
        "that is one number a token; take their mean": real,
        "the sign is wrong: it is the mean of -log p": -real.mean(),
    }
    given, why = (logits, target, lengths), "Is the mask as wide as the target?"
    answers.check_call(loss, given, real.mean(), mistakes, why=why, axes="()", rtol=1e-4, atol=1e-5)


def check_leak_test(sees_the_future: Answer) -> None:
    """Check a test for decoders that see words which they have not written yet.

    Args:
        sees_the_future: `sees_the_future(predict, target_in)`, with `predict` from (b, q) ids to
            (b, q, vocabulary) logits; True if a later word changes an earlier output.
    """
    draw = torch.Generator().manual_seed(2)
    vocabulary, q = 13, 6
    table = torch.randn(vocabulary, vocabulary, generator=draw)
    target_in = torch.randint(1, vocabulary, (3, q), generator=draw)
    causal = torch.ones(q, q).tril()
    one_ahead = torch.ones(q, q).tril(1)
    at_start, at_end = causal.clone(), causal.clone()
    at_start[0, 1] = at_end[-2, -1] = 1.0
    cases = {
        "a decoder that reads past and present words": (causal, False),
        "a decoder that reads the present word alone": (torch.eye(q), False),
        "a decoder that reads the whole sentence at every step": (torch.ones(q, q), True),
        "a decoder that reads one word ahead": (one_ahead, True),
        "a decoder that reads one word ahead at its first step alone": (at_start, True),
        "a decoder that reads one word ahead at its last step but one": (at_end, True),
        "a decoder that reads only the last word": (torch.eye(q)[-1].expand(q, q), True),
    }
    for name, (reads, leaks) in cases.items():
        predict = _reader(table, reads)
        got = answers.called(sees_the_future, predict, target_in, why="Are the shapes kept?")
        if got is None:
            fail("your function returned None: does it end in a return?")
        if bool(got) == leaks:
            continue
        said = f"{name}: yours says that it {'sees the future' if got else 'does not'}"
        if not leaks:
            fail(f"{said}. Only outputs before the changed word count; its own may change.")
        change = "Change every later word in turn, to another id"
        fail(f"{said}. {change}, and compare all outputs before it.")
    print("Right.")


def _reader(table: Tensor, reads: Tensor) -> Predict:
    """Make a decoder whose output i sums what it knows of the words j with reads[i, j] = 1."""
    numbers = torch.arange(1.0, reads.shape[1] + 1)

    def predict(target_in: Tensor) -> Tensor:
        return torch.einsum("ij,bjv->biv", reads * numbers, table[target_in])

    return predict
