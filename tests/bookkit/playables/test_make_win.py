"""The race, in Node: who leads by how much is what NumPy says of the same runs."""

import numpy as np
import pytest

from bookkit.figures import Rule, Training, make_win
from tests.bookkit.playables.node import ask

LENGTHS = [(1, 5), (6, 10), (11, 15), (16, 20)]
RULES = [
    Rule("updates", "updates", [100]),
    Rule("time", "s", [10, 25, 40], longer=True),
    Rule("bytes", "KiB", [2, 4]),
]
COSTS = {
    ("a", 0): (100, 9, 2), ("a", 1): (200, 20, 2), ("b", 0): (100, 12, 3),
    ("c", 0): (50, 25, 4), ("c", 1): (100, 40, 4),
}  # fmt: skip
DICE = np.random.default_rng(3)
SCORES = {key: DICE.uniform(0, 100, (2, 4, 5)) for key in COSTS}
RUNS = [
    Training(name, COSTS[name, n], {"right": SCORES[name, n][0], "BLEU": SCORES[name, n][1]})
    for name, n in COSTS
]
RACE = make_win(RUNS, RULES, LENGTHS, trained=10)


def test_lanes_are_means_of_what_fits() -> None:
    fitting = {
        (0, 0): {"a": 0, "b": 0, "c": 1}, (1, 0): {"a": 0}, (1, 1): {"a": 1, "b": 0, "c": 0},
        (1, 2): {"a": 1, "b": 0, "c": 1}, (2, 0): {"a": 0}, (2, 1): {"a": 0, "b": 0, "c": 1},
    }  # fmt: skip
    states = [
        {"equal": equal, "limit": limit, "counts": counts, "from": first, "to": last}
        for equal, limit in fitting
        for counts in (0, 1)
        for first, last in ((0, 0), (0, 3), (1, 2))
    ]
    for at, shown in zip(states, ask(RACE, *states), strict=True):
        seeds = {
            name: SCORES[name, n][at["counts"], at["from"] : at["to"] + 1].mean(0)
            for name, n in fitting[at["equal"], at["limit"]].items()
        }
        means = {name: float(runs.mean()) for name, runs in seeds.items()}
        order = sorted(means, key=means.__getitem__, reverse=True)
        assert [lane["name"] for lane in shown["lanes"]] == order
        assert shown["tied"] == order[:1]
        for lane in shown["lanes"]:
            np.testing.assert_allclose(lane["seeds"], seeds[lane["name"]], atol=1e-6)
            np.testing.assert_allclose(lane["score"], means[lane["name"]], atol=1e-6)
        if len(order) > 1:
            assert shown["ahead"] == (seeds[order[0]] > seeds[order[1]]).sum()


def test_a_tie_crowns_nobody() -> None:
    twins = [RUNS[0], RUNS[2]._replace(scores=RUNS[0].scores)]
    (said,) = ask(make_win(twins, RULES, LENGTHS, trained=10), want="said")
    assert "a and b share the first place" in said
    assert "Crowned so far: 0 of 2." in said


def test_a_race_without_a_runner_is_refused() -> None:
    with pytest.raises(ValueError, match=r"rules\[1\].limits: got 5, wanted 9 or more"):
        make_win(RUNS, [RULES[0], RULES[1]._replace(limits=[5, 40]), RULES[2]], LENGTHS, trained=10)
