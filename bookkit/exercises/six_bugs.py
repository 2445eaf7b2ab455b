"""The exercises of "Six bugs in one cell"."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from bookkit.exercises.answers import Sign, fail, named
from bookkit.exercises.exercise import Function, Value, Verdict

Predict = Callable[[Tensor], Tensor]
"""Takes decoder inputs (b, q) and gives logits (b, q, vocabulary)."""
DRAW = torch.Generator().manual_seed(0)

check_lengths = Value(
    "A list of five words, each `right`, `wrong` or `error`: what the notebook's layer does with "
    "(letters, steps) of (7, 7), (7, 1), (1, 5), (7, 5) and (6, 12).",
    right=["wrong", "right", "right", "error", "error"], mistakes={
        "7 and 7 can be added, but then step 1 meets letter 1 alone":
            ["right", "right", "right", "error", "error"],
        "12 is twice 6, but that is no help: one length must be 1, or both equal":
            ["wrong", "right", "right", "error", "wrong"],
        "with one letter there is only one weight, and it is 1 whatever the scores are":
            ["wrong", "right", "wrong", "error", "error"],
        "one step is added to every letter, and that is what is wanted":
            ["wrong", "wrong", "right", "error", "error"],
    }, otherwise="five words are wanted, each right, wrong or error: look at the pairs once more",
)  # fmt: skip


def _sums(query: Tensor, key: Tensor, w: Tensor, u: Tensor, v: Tensor) -> Tensor:
    return (query @ w)[:, :, None] + (key @ u)[:, None]


def _pairwise(query: Tensor, key: Tensor, w: Tensor, u: Tensor, v: Tensor) -> Tensor:
    return torch.tanh(_sums(query, key, w, u, v)) @ v


check_pairwise_scores = Function(
    "`score(query, key, query_weight, key_weight, vector)`, additive scores of every query against "
    "every key, from (b, q, d), (b, k, d), (d, hidden), (d, hidden) and (hidden,) to (b, q, k).",
    right=_pairwise, cases=[
        [
            torch.randn(*shape, generator=DRAW)
            for shape in ((2, 3, 7), (2, 5, 7), (7, 11), (7, 11), (11,))
        ]
    ], mistakes={
        "the two words are mixed up: rows are queries, columns are keys":
            lambda *given: _pairwise(*given).mT,
        "those are weights: leave the softmax to the next step":
            lambda *given: _pairwise(*given).softmax(-1),
        "there is a last axis of size 1 too many": lambda *given: _pairwise(*given)[..., None],
        "the tanh is missing": lambda *given: _sums(*given) @ given[-1],
        "v is missing: those are the hidden values, not yet scores":
            lambda *given: torch.tanh(_sums(*given)),
        "W belongs to the queries and U to the keys":
            lambda query, key, w, u, v: _pairwise(query, key, u, w, v),
    }, why="Does every query meet every key on axes of its own?", axes="(b, q, k)", rtol=1e-4,
    atol=1e-5,
)  # fmt: skip


def _read(target: Tensor, bos: int, eos: int) -> Tensor:
    return torch.nn.functional.pad(target, (1, 0), value=bos)


def _said(target: Tensor, bos: int, eos: int) -> Tensor:
    said = torch.nn.functional.pad(target, (0, 1))
    return said.scatter(1, (target != 0).sum(1, keepdim=True), eos)


check_shift = Function(
    "`shift(target, bos_id, eos_id)`, what a decoder reads and what it must say, from (b, q) ids "
    "padded with 0 at the end to the pair (target_in, target_out), each (b, q + 1).",
    right=lambda *given: (_read(*given), _said(*given)),
    cases=[(torch.tensor([[5, 7, 6, 4, 9], [8, 5, 0, 0, 0], [9, 6, 7, 0, 0]]), 1, 2)], mistakes={
        "the decoder reads the very words that it must say: shift one against the other": Sign(
            lambda pair, *_: all(isinstance(one, Tensor) for one in pair) and torch.equal(*pair),
            lambda target, bos, eos: (target, target),
        ),
        "the two are swapped: <bos> is read, <eos> is said":
            lambda *given: (_said(*given), _read(*given)),
    }, parts={
        "target_in": {
            "without <bos> the decoder has nothing to read at its first step": lambda t, b, e: t,
            "it starts with <bos>, not with padding": lambda t, b, e: _read(t, 0, e),
            "the last word of every sentence is cut off": lambda *given: _read(*given)[:, :-1],
        },
        "target_out": {
            "<eos> stands behind the padding; it follows the last word":
                lambda t, b, e: torch.nn.functional.pad(t, (0, 1), value=e),
            "without <eos> the decoder never learns to stop":
                lambda t, b, e: torch.nn.functional.pad(t, (0, 1)),
            "it is one longer than the sentence, the words and then <eos>": lambda t, b, e: t,
        },
    }, kind="a pair (target_in, target_out)", why="Can one row be shorter than another?",
    axes="(b, q + 1)", rtol=1e-4, atol=1e-5,
)  # fmt: skip


def _truth(got: Any) -> bool:
    if got is None:
        fail("your function returned None: does it end in a return?")
    if got is ...:
        fail(f"got {named(got)}")
    return bool(got)


def _reader(table: Tensor, reads: Tensor) -> Predict:
    """Make a decoder whose output i sums what it knows of the words j with reads[i, j] = 1."""
    numbers = torch.arange(1.0, reads.shape[1] + 1)

    def predict(target_in: Tensor) -> Tensor:
        return torch.einsum("ij,bjv->biv", reads * numbers, table[target_in])

    return predict


def _decoders() -> list[tuple[tuple[Any, ...], bool, str]]:
    """Return decoders with what they are told, whether they leak, and what to say of them."""
    draw, vocabulary, q = torch.Generator().manual_seed(2), 13, 6
    table = torch.randn(vocabulary, vocabulary, generator=draw)
    target_in = torch.randint(1, vocabulary, (3, q), generator=draw)
    causal, one_ahead = torch.ones(q, q).tril(), torch.ones(q, q).tril(1)
    at_start, at_end = causal.clone(), causal.clone()
    at_start[0, 1] = at_end[-2, -1] = 1.0
    reads = {
        "past and present words": (causal, False),
        "the present word alone": (torch.eye(q), False),
        "the whole sentence at every step": (torch.ones(q, q), True),
        "one word ahead": (one_ahead, True),
        "one word ahead at its first step alone": (at_start, True),
        "one word ahead at its last step but one": (at_end, True),
        "only the last word": (torch.eye(q)[-1].expand(q, q), True),
    }
    said = {
        False: "yours says that it sees the future. Only outputs before the changed word count; "
        "its own may change.",
        True: "yours says that it does not. Change every later word in turn, to another id, and "
        "compare all outputs before it.",
    }
    return [
        ((_reader(table, which), target_in), leaks, f"a decoder that reads {name}: {said[leaks]}")
        for name, (which, leaks) in reads.items()
    ]


check_leak_test = Verdict(
    "`sees_the_future(predict, target_in)`, with `predict` from (b, q) ids to (b, q, vocabulary) "
    "logits; True if a later word changes an earlier output.",
    suspects=_decoders(), read=_truth, why="Are the shapes kept?",
)  # fmt: skip
