"""The study of layers that follow notes: its rooms, its answers, and what its arms share."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Generator

from experiments.hops import study as hops

pytestmark = pytest.mark.slow

SMALL = hops.Room(people=5, colours=3, batch_size=6, test_size=20)


def test_answers_are_the_colours_at_which_the_notes_lead() -> None:
    _, colours, notes = SMALL.batch(Generator().manual_seed(6), 4)
    one, two = (hops.answers(colours, notes, steps) for steps in (1, 2))
    for b, person in itertools.product(range(4), range(5)):
        named = notes[b, person]
        assert one[b, person] == colours[b, named]
        assert two[b, person] == colours[b, notes[b, named]]


def test_the_wide_layer_has_as_many_weights_as_the_two() -> None:
    counts = {
        name: sum(part.numel() for part in hops.Follower(arm, hops.ROOM).parameters())
        for name, arm in hops.arms().items()
    }
    assert 1 <= counts["two/1"] / counts["two/2"] < 1.01
    assert counts["one/1"] < counts["two/1"]


def test_where_layers_look_is_averaged_over_people() -> None:
    torch.manual_seed(0)
    model = hops.Follower(hops.Setting(2, 2, hidden=8), SMALL)
    features, _, notes = SMALL.batch(Generator().manual_seed(7), 3)
    with torch.no_grad():
        found = hops.looks(model, features, notes)
        maps = hops.maps(model, features)
    assert set(found) == {f"looks/{layer}/{step}" for layer in (1, 2) for step in (1, 2)}
    for layer, weights in enumerate(maps, start=1):
        torch.testing.assert_close(weights.sum(-1), torch.ones(3, 5))
        first = [weights[b, i, notes[b, i]] for b in range(3) for i in range(5)]
        second = [weights[b, i, notes[b, notes[b, i]]] for b in range(3) for i in range(5)]
        for step, cells in ((1, first), (2, second)):
            mean = float(torch.stack(cells).mean())
            assert found[f"looks/{layer}/{step}"] == pytest.approx(mean, rel=1e-5)
