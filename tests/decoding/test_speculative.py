"""Speculative decoding is exact: by enumeration, by samples, and in how much it keeps."""

import itertools
import math
from collections import Counter
from typing import Any

import pytest
import torch
from scipy.spatial.distance import cityblock
from scipy.stats import chisquare
from torch import Generator, Tensor

from companion.decoding import Score, overlap, remainder, speculate, verify

SIZE = 3


def chain(seed: int, size: int = SIZE) -> Tensor:
    """Return a transition matrix (size, size), of rows that sum to 1."""
    drawn = torch.rand(size, size, generator=Generator().manual_seed(seed), dtype=torch.float64)
    return (3 * drawn).softmax(-1)


def score(table: Tensor) -> Score:
    return lambda tokens: table[tokens]


def continued(table: Tensor, first: int, count: int) -> dict[tuple[int, ...], float]:
    """Return the probability of every continuation of so many tokens."""
    found = {}
    for tokens in itertools.product(range(len(table)), repeat=count):
        steps = itertools.pairwise((first, *tokens))
        found[tokens] = math.prod(float(table[a, b]) for a, b in steps)
    return found


def test_all_proposals_together_give_the_target() -> None:
    """Two tokens are proposed; where fewer than three come out, the target goes on alone."""
    for seed in range(4):
        draft, target, first = chain(seed), chain(seed + 50), seed % SIZE
        written = dict.fromkeys(continued(target, first, 3), 0.0)
        for proposed, chance in continued(draft, first, 2).items():
            row, still = (first, *proposed), chance
            for place in range(3):
                begun, at = proposed[:place], row[place]
                if place == 2:
                    outcomes = target[at]
                else:
                    keeps = min(1.0, float(target[at, row[place + 1]] / draft[at, row[place + 1]]))
                    outcomes = (1 - keeps) * remainder(draft[at], target[at])
                for token, weight in enumerate(outcomes.tolist()):
                    end = (*begun, token)
                    for rest, more in continued(target, token, 3 - len(end)).items():
                        written[end + rest] += still * weight * more
                if place < 2:
                    still *= keeps
        assert written == pytest.approx(continued(target, first, 3), abs=1e-12)


def test_samples_have_the_distribution_of_the_target() -> None:
    for ahead in (0, 1, 2, 5):
        draft, target = chain(1), chain(2)
        generator = Generator().manual_seed(10 + ahead)
        found: Counter[tuple[int, ...]] = Counter()
        for _ in range(3000):
            one = speculate(
                score(draft), score(target), torch.tensor([1]), eos_id=-1, max_len=3, ahead=ahead,
                generator=generator,
            )  # fmt: skip
            found[tuple(one.tokens.tolist())] += 1
        wanted = continued(target, 1, 3)
        counts = [found[tokens] for tokens in wanted]
        assert chisquare(counts, [3000 * p for p in wanted.values()]).pvalue > 0.01


def test_the_rate_is_one_minus_the_total_variation() -> None:
    draft, target = chain(3, 7), chain(4, 7)
    wanted = [1 - cityblock(a, b) / 2 for a, b in zip(draft.numpy(), target.numpy(), strict=True)]
    assert overlap(draft, target).tolist() == pytest.approx(wanted, abs=1e-12)
    assert overlap(draft, draft).tolist() == pytest.approx([1.0] * 7)


def test_the_target_has_a_row_more() -> None:
    table = chain(3)
    with pytest.raises(ValueError, match="target: got 2 rows, wanted 3, one more than proposed"):
        verify(torch.tensor([0, 1]), table[:2], table[:2])


def test_what_a_draft_costs() -> None:
    def run(draft: Tensor, target: Tensor, first: int, **options: Any) -> Any:
        generator = Generator().manual_seed(1)
        options = {"eos_id": -1, "generator": generator, **options}
        return speculate(score(draft), score(target), torch.tensor([0, first]), **options)

    same = run(chain(8), chain(8), 0, max_len=10, ahead=4)
    assert same.passes == 2
    assert same.origins == ("kept",) * 4 + ("added",) + ("kept",) * 4 + ("added",)
    wrong = run(torch.eye(3)[[0, 0, 0]], torch.eye(3)[[1, 2, 1]], 0, max_len=5, ahead=3)
    assert wrong.tokens.tolist() == [1, 2, 1, 2, 1]
    assert wrong.passes == 5
    assert set(wrong.origins[:-1]) == {"replaced"}
    downwards = torch.eye(4)[[0, 0, 1, 2]]  # counts down, and stays at 0
    for ahead in range(6):  # nothing stands behind the end, or behind the limit
        ended = run(downwards, downwards, 3, eos_id=0, max_len=9, ahead=ahead)
        assert ended.tokens.tolist() == [2, 1, 0]
        assert len(ended.origins) == 3
        cut = run(chain(9), chain(9), 0, max_len=ahead + 1, ahead=4)
        assert len(cut.tokens) == len(cut.origins) == ahead + 1
