"""Which tokens may be drawn: by their number, and by their probability together."""

import math
from typing import Any

import pytest
import torch

from companion.decoding import keep_min_p, keep_top_k, keep_top_p, sample

SHARES = torch.tensor(
    [[0.25, 0.09375, 0.5, 0.03125, 0.125], [0.0625, 0.0625, 0.0625, 0.75, 0.0625]]
)


def kept(logits: torch.Tensor) -> list[list[int]]:
    return [(row > -math.inf).nonzero()[:, 0].tolist() for row in logits]


def test_those_that_stay_are_as_they_were() -> None:
    logits = SHARES.log()
    cases: list[Any] = [
        (keep_top_k, 1, [2]),
        (keep_top_k, 2, [0, 2]),
        (keep_top_k, 9, [0, 1, 2, 3, 4]),
        (keep_top_p, 0.2, [2]),
        (keep_top_p, 0.5, [2]),  # exactly reached: no other is needed
        (keep_top_p, 0.51, [0, 2]),
        (keep_top_p, 0.875, [0, 2, 4]),
        (keep_top_p, 0.88, [0, 1, 2, 4]),
        (keep_top_p, 1.0, [0, 1, 2, 3, 4]),
        (keep_min_p, 0.01, [0, 1, 2, 3, 4]),
        (keep_min_p, 0.1, [0, 1, 2, 4]),
        (keep_min_p, 0.25, [0, 2, 4]),
        (keep_min_p, 1.0, [2]),
    ]
    for keep, number, expected in cases:
        found = keep(logits, number)
        assert kept(found)[0] == expected
        assert torch.equal(found[0, expected], logits[0, expected])
    # Every row has its own.
    assert [len(row) for row in kept(keep_top_p(logits, 0.7))] == [2, 1]
    assert [len(row) for row in kept(keep_min_p(logits, 0.2))] == [3, 1]


def test_of_equal_ones_no_more_than_k_stay_and_what_was_left_out_stays_out() -> None:
    logits = keep_top_k(torch.zeros(2, 5), 2)
    assert [len(row) for row in kept(logits)] == [2, 2]
    assert kept(keep_top_p(logits, 1.0)) == kept(keep_top_p(logits, 0.999)) == kept(logits)


def test_a_sum_that_reaches_p_but_for_rounding_is_enough() -> None:
    shares = torch.tensor([0.3, 0.1, 0.1, 0.5])
    assert kept(keep_top_p(shares.log()[None], 0.8)) == [[0, 3]]
    certain = torch.tensor([0.0, math.inf, 1.0])
    assert keep_top_p(certain, 0.9).tolist() == [-math.inf, math.inf, -math.inf]


def test_the_cuts_are_those_of_transformers() -> None:
    process = pytest.importorskip("transformers.generation.logits_process")
    logits = 3 * torch.randn(50, 30, generator=torch.Generator().manual_seed(3))
    unused = torch.zeros(50, 1, dtype=torch.long)
    for number in (0.03, 0.2, 0.7):
        count = 1 + int(30 * number)
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

    options: Any = {"batch_size": 4000, "bos_id": 0, "eos_id": -1, "max_len": 1}
    options["generator"] = torch.Generator().manual_seed(0)
    found = sample(step, None, min_p=0.4, **options).tokens.flatten().bincount()
    assert found.tolist() == pytest.approx([2500, 1500], abs=150)
    hot = sample(step, None, min_p=0.4, temperature=2.0, **options)
    assert hot.tokens.max() == 2  # the temperature comes first


def test_impossible_numbers_are_refused() -> None:
    cases: list[Any] = [(keep_top_k, "k", 0), (keep_top_p, "p", 1.1), (keep_min_p, "share", 0)]
    for keep, name, number in cases:
        with pytest.raises(ValueError, match=f"^{name}: got {number}"):
            keep(SHARES.log(), number)


def test_half_precision_keeps_as_much() -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(1000, generator=generator).to(torch.bfloat16)
    stays = keep_top_p(logits, 0.99) > -math.inf
    assert logits.double().softmax(-1)[stays].sum() >= 0.99
    assert torch.equal(stays, keep_top_p(logits.float(), 0.99) > -math.inf)
