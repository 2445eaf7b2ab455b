"""Which tokens may be drawn: by their number, and by their probability together."""

from __future__ import annotations

import math
from typing import Any, cast

import pytest
import torch

from companion.decoding import keep_min_p, keep_top_k, keep_top_p, sample


def kept(logits: torch.Tensor) -> list[list[int]]:
    return [(row > -math.inf).nonzero()[:, 0].tolist() for row in logits]


def test_the_k_largest_stay_as_they_are() -> None:
    logits = torch.tensor([[1.0, 4.0, 2.0, 3.0], [0.0, -1.0, 5.0, 2.0]])
    assert keep_top_k(logits, 1).tolist()[0] == [-math.inf, 4.0, -math.inf, -math.inf]
    assert kept(keep_top_k(logits, 2)) == [[1, 3], [2, 3]]
    assert torch.equal(keep_top_k(logits, 4), logits)
    assert torch.equal(keep_top_k(logits, 9), logits)


def test_of_equal_ones_no_more_than_k_stay() -> None:
    assert len(kept(keep_top_k(torch.zeros(1, 7), 3))[0]) == 3


def test_the_fewest_that_reach_p_stay() -> None:
    cases: list[Any] = [
        (0.2, [2]),
        (0.5, [2]),  # exactly reached: no other is needed
        (0.51, [0, 2]),
        (0.75, [0, 2]),
        (0.76, [0, 2, 4]),
        (0.875, [0, 2, 4]),
        (0.88, [0, 1, 2, 4]),
        (1.0, [0, 1, 2, 3, 4]),
    ]
    for p, expected in cases:
        logits = torch.tensor([[0.25, 0.09375, 0.5, 0.03125, 0.125]]).log()
        found = keep_top_p(logits, p)
        assert kept(found) == [expected]
        assert torch.equal(found[0, expected], logits[0, expected])


def test_every_row_has_its_own() -> None:
    logits = torch.tensor([[0.9, 0.05, 0.05], [0.4, 0.3, 0.3]]).log()
    assert [len(row) for row in kept(keep_top_p(logits, 0.8))] == [1, 3]


def test_what_was_left_out_stays_out() -> None:
    logits = keep_top_k(torch.zeros(2, 5), 2)
    assert kept(keep_top_p(logits, 1.0)) == kept(logits)
    assert [len(row) for row in kept(keep_top_p(logits, 0.999))] == [2, 2]


def test_those_with_a_share_of_the_highest_stay() -> None:
    cases: list[Any] = [
        (0.01, [0, 1, 2, 3, 4]),
        (0.1, [0, 1, 2, 4]),
        (0.25, [0, 2, 4]),
        (0.5, [0, 2]),
        (1.0, [2]),
    ]
    for share, expected in cases:
        logits = torch.tensor([[0.25, 0.09375, 0.5, 0.03125, 0.125]]).log()
        found = keep_min_p(logits, share)
        assert kept(found) == [expected]
        assert torch.equal(found[0, expected], logits[0, expected])


def test_the_highest_is_that_of_the_row() -> None:
    logits = torch.tensor([[0.9, 0.05, 0.05], [0.4, 0.3, 0.3]]).log()
    assert [len(row) for row in kept(keep_min_p(logits, 0.5))] == [1, 3]


def test_the_cuts_are_those_of_transformers() -> None:
    for number in (0.03, 0.2, 0.7):
        process = pytest.importorskip("transformers.generation.logits_process")
        logits = 3 * torch.randn(50, 30, generator=torch.Generator().manual_seed(3))
        unused, count = torch.zeros(50, 1, dtype=torch.long), 1 + int(30 * number)
        for ours, theirs in (
            (keep_min_p(logits, number), process.MinPLogitsWarper(number)),
            (keep_top_p(logits, number), process.TopPLogitsWarper(number)),
            (keep_top_k(logits, count), process.TopKLogitsWarper(count)),
        ):
            assert torch.equal(ours, theirs(unused, logits.clone()))


def test_samples_are_drawn_from_what_min_p_leaves() -> None:
    probabilities = torch.tensor([0.5, 0.3, 0.15, 0.05])

    def step(tokens: torch.Tensor, state: None) -> tuple[torch.Tensor, None, None]:
        return probabilities.log().expand(len(tokens), 4), state, None

    generator = torch.Generator().manual_seed(0)
    options = {"batch_size": 4000, "bos_id": 0, "eos_id": -1, "max_len": 1, "generator": generator}
    found = sample(step, None, min_p=0.4, **cast(Any, options)).tokens.flatten().bincount()
    assert found.tolist() == pytest.approx([2500, 1500], abs=150)
    hot = sample(step, None, min_p=0.4, temperature=2.0, **cast(Any, options))
    assert hot.tokens.max() == 2  # the temperature comes first


def test_impossible_numbers_are_refused() -> None:
    cases: list[Any] = [
        (lambda x: keep_top_k(x, 0), ValueError, "^k: got 0, wanted at least 1"),
        (lambda x: keep_top_k(x, cast(Any, 1.5)), TypeError, "^k: got float"),
        (
            lambda x: keep_top_k(cast(Any, [1.0, 2.0]), 1),
            TypeError,
            "logits: got list, wanted a tensor",
        ),
        (lambda x: keep_top_k(x.long(), 1), TypeError, "logits: got dtype torch.int64"),
        (
            lambda x: keep_top_k(x[..., 0].sum(), 1),
            ValueError,
            r"logits: got shape \(\), wanted \(..., vocabulary\)",
        ),
        (lambda x: keep_top_p(x, 0.0), ValueError, r"^p: got 0.0, wanted a number above 0 and"),
        (lambda x: keep_top_p(x, 1.1), ValueError, r"^p: got 1.1, wanted a number above 0 and"),
        (lambda x: keep_min_p(x, 0.0), ValueError, r"^share: got 0.0, wanted a number above 0 and"),
        (lambda x: keep_top_p(x, cast(Any, "a")), TypeError, "^p: got 'a', wanted a finite number"),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call(torch.zeros(1, 3))


def test_half_precision_keeps_as_much() -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(1000, generator=generator).to(torch.bfloat16)
    kept = keep_top_p(logits, 0.99) > -math.inf
    assert logits.double().softmax(-1)[kept].sum() >= 0.99
    assert torch.equal(kept, keep_top_p(logits.float(), 0.99) > -math.inf)
