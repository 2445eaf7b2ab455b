"""The study of drafts: its table of pairs, and what it counts as kept."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from companion.decoding import Score, Speculated
from experiments.speculative import study as speculative

pytestmark = pytest.mark.slow


def test_the_table_counts_pairs() -> None:
    table = speculative.pair_table([[0, 1, 2], [0, 1, 1]], 3, unseen=0.5)
    wanted = torch.tensor([[0.5, 2.5, 0.5], [0.5, 1.5, 1.5], [0.5, 0.5, 0.5]])
    torch.testing.assert_close(table, (wanted / wanted.sum(1, keepdim=True)).double())


def test_only_checked_words_count() -> None:
    draft = torch.tensor([[0.5, 0.5], [0.25, 0.75]])
    target = torch.tensor([[0.5, 0.5], [0.75, 0.25]])

    def score(table: Tensor) -> Score:
        return lambda tokens: table[tokens]

    written = [
        Speculated(torch.tensor([1, 0, 0]), ("kept", "replaced", "added"), 2),
        Speculated(torch.tensor([1]), ("kept",), 1),
    ]
    found = speculative.measured(written, score(draft), score(target), bos=0)
    # Checked were three words: behind 0, behind 1, and behind 0 again.
    assert found["kept"] == pytest.approx(200 / 3)
    assert found["overlap"] == pytest.approx(100 * (1 + 0.5 + 1) / 3)
    assert found["words"] == pytest.approx(4 / 3)
