"""The study of layers that follow notes: its rooms, its answers, and what its arms share."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest
import torch
from torch import Generator

from bookkit.notebook import load_result
from experiments.engine.trials import tuned_file
from experiments.hops import study as hops

SMALL = hops.Room(people=5, colours=3, batch_size=6, test_size=20)


def test_people_have_a_name_a_colour_and_a_note() -> None:
    features, colours, notes = SMALL.batch(Generator().manual_seed(5), 4)
    assert features.shape == (4, 5, SMALL.width) == (4, 5, 13)
    assert features.square().mean() == pytest.approx(1, rel=1e-5)
    names, worn, noted = torch.split(features, [5, 3, 5], dim=-1)
    assert torch.equal(names.argmax(-1), torch.arange(5).expand(4, 5))
    assert torch.equal(worn.argmax(-1), colours)
    assert torch.equal(noted.argmax(-1), notes)


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


def test_the_second_map_is_that_of_what_the_first_block_gives() -> None:
    torch.manual_seed(1)
    model = hops.Follower(hops.Setting(2, 2, hidden=8), SMALL)
    features = SMALL.batch(Generator().manual_seed(8), 2)[0]
    with torch.no_grad():
        read = model.blocks[0](features)
        second = model.blocks[1]
        assert isinstance(second, hops.Block)
        alone = second.attention(read, need_weights=True)[1][:, 0]
        torch.testing.assert_close(hops.maps(model, features)[1], alone)


def test_the_learning_rates_were_chosen_inside_their_grid() -> None:
    """A best rate at an end of its grid leaves a comparison open, if there is something to gain."""
    trials = json.loads(tuned_file("hops").read_text(encoding="utf8"))["trials"]
    for name, setting in hops.arms().items():
        found = {t["setting"]["learning_rate"]: max(t["runs"]) for t in trials if t["name"] == name}
        rate = hops.reported()[name].learning_rate
        inside = hops.LEARNING_RATES[0] < rate < hops.LEARNING_RATES[-1]
        assert inside or found[rate] < 1e-3
        assert set(found) == set(hops.LEARNING_RATES)
        assert setting == replace(hops.reported()[name], learning_rate=0.0)


def test_the_recorded_settings_are_the_tuned_ones() -> None:
    recorded = load_result("hops").config["arms"]
    reported = hops.reported()
    assert list(recorded) == sorted(reported)
    for name, arm in reported.items():
        assert hops.Setting(**recorded[name]) == arm
    longer = replace(reported["two/1"], steps=hops.PATIENCE * reported["two/1"].steps)
    assert reported["patient/1"] == longer
