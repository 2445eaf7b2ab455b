"""The study of recall: its question, its ways to look back, and what a window can hold."""

from __future__ import annotations

from typing import get_args

import pytest
import torch
from torch import Generator

from companion.linear import recurrent_linear_attention
from experiments.recall import study as recall

pytestmark = pytest.mark.slow

SMALL = recall.Task(keys=9, values=5, pairs=(4, 8), batch_size=3, test_size=4)


def test_every_pair_is_shown_and_asked_once() -> None:
    tokens, answers, asked = SMALL.draw(6, 4, Generator().manual_seed(5))
    assert tokens.shape == (6, 12)
    assert answers.shape == asked.shape == (6, 4)
    for row, right, order in zip(tokens.tolist(), answers.tolist(), asked.tolist(), strict=True):
        shown = dict(zip(row[:8:2], row[1:8:2], strict=True))
        assert len(shown) == 4
        assert sorted(row[8:]) == sorted(shown)
        assert [shown[key] - SMALL.keys for key in row[8:]] == right
        assert [row[2 * pair] for pair in order] == row[8:]
    assert int(tokens[:, 1:8:2].min()) >= SMALL.keys > int(tokens[:, ::2].max())


def test_nothing_looks_ahead() -> None:
    for mixer in get_args(recall.Mixer):
        torch.manual_seed(3)
        model = recall.Recaller(mixer, SMALL).double()
        tokens, *_ = SMALL.draw(2, 4, Generator().manual_seed(5))
        other = tokens.clone()
        other[:, 7:] = (other[:, 7:] + 1) % SMALL.keys
        torch.testing.assert_close(model(tokens)[:, :7], model(other)[:, :7])
        assert not torch.allclose(model(tokens)[:, 7], model(other)[:, 7])


def test_reach_counts_the_places_between() -> None:
    asked = torch.tensor([[0, 7, 8, 15] + [n for n in range(16) if n not in (0, 7, 8, 15)]])
    found = recall.in_reach(asked)[0]
    for m, pair in enumerate(asked[0].tolist()):
        question, value = 32 + m, 2 * pair + 1
        assert bool(found[m]) == (question - value <= recall.WINDOW - 1)
    assert found.tolist()[:4] == [False, True, True, True]


def test_states_have_keys_of_length_one() -> None:
    rows: list[tuple[recall.Mixer, str]] = [("sum", ""), ("decay", "decay"), ("delta", "beta")]
    for mixer, name in rows:
        generator = Generator().manual_seed(5)
        query, key, value = torch.randn(3, 2, 11, 8, generator=generator).double()
        gate = torch.rand(2, 11, generator=generator).double()
        one, two = (x / x.norm(dim=-1, keepdim=True) for x in (query, key))
        wanted, state = recurrent_linear_attention(
            one, two, value, **({name: gate} if name else {})
        )
        found = recall.mixed_by(mixer, query, key, value, gate if name else None)
        torch.testing.assert_close(found, wanted)
        assert state[0].numel() == 64


def test_what_is_measured_of_a_model_that_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """An oracle that remembers the newer half of the pairs."""

    class Oracle(recall.Recaller):
        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            pairs = tokens.shape[1] // 3
            said = torch.full(tokens.shape, SMALL.values)
            for row, ids in enumerate(tokens.tolist()):
                newer = range(pairs // 2, pairs)
                known = {ids[2 * n]: ids[2 * n + 1] - SMALL.keys for n in newer}
                for place in range(2 * pairs, 3 * pairs):
                    said[row, place] = known.get(ids[place], SMALL.values)
            return torch.nn.functional.one_hot(said, SMALL.values + 1).double()

    found = recall.measured(Oracle("delta", SMALL), SMALL, seed=3)
    assert found["accuracy/4"] == found["accuracy/8"] == 50
    assert [found[f"age/{n}"] for n in (1, 2, 3, 4)] == [0, 0, 100, 100]
    assert all(0 < found[f"gate/{kind}"] < 1 for kind in ("keys", "values", "questions"))
