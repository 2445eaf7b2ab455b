"""Greedy decoding over a step that knows no model."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from companion.decoding import greedy

BOS, EOS, WORDS = 7, 0, 8


def script(*sequences: list[int]):  # type: ignore[no-untyped-def]
    """A step that writes given sequences, one a row; its state is the place."""

    def step(tokens: Tensor, place: int) -> tuple[Tensor, int, Tensor]:
        expected = [([BOS, *row] + [EOS] * 9)[place] for row in sequences]
        alive = [place <= len(row) for row in sequences]
        assert [t for t, a in zip(tokens.tolist(), alive, strict=True) if a] == [
            e for e, a in zip(expected, alive, strict=True) if a
        ]
        following = torch.tensor([(row + [EOS] + [3] * 9)[place] for row in sequences])
        return torch.eye(WORDS)[following], place + 1, torch.full((len(sequences), 5), 0.2)

    return step


def decode(step, *, rows: int, max_len: int = 6):  # type: ignore[no-untyped-def]
    return greedy(step, 0, batch_size=rows, bos_id=BOS, eos_id=EOS, max_len=max_len)


def test_each_sequence_ends_by_itself() -> None:
    rows = [[4, 5], [], [6, 1, 2]]
    decoded = decode(script(*rows), rows=3)
    assert decoded.sequences() == rows
    assert decoded.lengths.tolist() == [2, 0, 3]
    assert decoded.finished.tolist() == [True, True, True]


def test_it_stops_when_all_have_ended() -> None:
    assert decode(script([4], [5, 6]), rows=2, max_len=50).tokens.shape == (2, 3)


def test_words_after_the_end_are_not_read() -> None:
    """The script says 3 for ever after its end: none of it may come back."""
    decoded = decode(script([4], [5, 6, 2]), rows=2)
    assert decoded.tokens.tolist() == [[4, EOS, EOS, EOS], [5, 6, 2, EOS]]


def test_a_sequence_cut_at_the_limit_is_marked() -> None:
    decoded = decode(script([4], [5, 6, 2]), rows=2, max_len=3)
    assert decoded.finished.tolist() == [True, False]
    assert decoded.sequences() == [[4], [5, 6, 2]]


def test_weights_have_one_row_a_step() -> None:
    weights = decode(script([4], [5, 6, 2]), rows=2).weights
    assert weights is not None
    assert weights.shape == (2, 4, 5)


def test_a_step_without_weights_gives_none() -> None:
    step = script([4])

    def blind(tokens: Tensor, place: int) -> tuple[Tensor, int, None]:
        logits, after, _ = step(tokens, place)
        return logits, after, None

    assert decode(blind, rows=1).weights is None


@pytest.mark.parametrize(("rows", "max_len", "name"), [(0, 3, "batch_size"), (1, 0, "max_len")])
def test_impossible_requests_are_refused(rows: int, max_len: int, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}: got 0"):
        decode(script([4]), rows=rows, max_len=max_len)
