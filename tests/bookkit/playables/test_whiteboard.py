"""The whiteboard in Node: what it holds is the package's state, and what it says is the nearest."""

from itertools import product

import numpy as np

from bookkit.playables.whiteboard import KEPT, SIZES, whiteboard
from companion import recurrent_linear_attention
from tests.bookkit.playables.node import ask

MADE = whiteboard([f"n{at}" for at in range(16)])
PATTERNS = np.array(MADE.data["patterns"])
TWICE = [*((at, 3 * at % 32) for at in range(11)), (2, 31), (5, 30)]
RULES = [{}, {"decay": np.full(len(TWICE), KEPT)}, {"beta": np.ones(len(TWICE))}]


def test_every_board_is_the_packages_state() -> None:
    chosen = list(product(range(3), range(3), range(2)))
    states = [
        {"rule": rule, "rows": rows, "angles": angles, "asked": 5, "written": TWICE}
        for rule, rows, angles in chosen
    ]
    last = dict(TWICE)
    for (rule, rows, angles), shown in zip(chosen, ask(MADE, *states), strict=True):
        keys = np.array(MADE.data["keys"][rows][angles])
        key, value = (keys[[k for k, _ in TWICE]], PATTERNS[[v for _, v in TWICE]])
        _, state = recurrent_linear_attention(key, key, value, **RULES[rule])
        np.testing.assert_allclose(shown["state"], state, atol=1e-6)
        found = keys[5] @ state
        np.testing.assert_allclose(shown["found"], found, atol=1e-6)
        np.testing.assert_allclose(shown["off"], np.linalg.norm(found - PATTERNS[30]), atol=1e-6)
        assert [(one["name"], one["number"]) for one in shown["shelf"]] == list(last.items())
        for one in shown["shelf"]:
            apart = np.linalg.norm(PATTERNS - keys[one["name"]] @ state, axis=1)
            assert apart[one["says"]] < apart.min() + 1e-6  # two on one direction tie
            assert one["name"] != 5 or one["says"] == shown["says"]
        assert shown["kept"] == [8 * SIZES[rows], 11 * (SIZES[rows] + 8)]


def test_as_many_names_at_right_angles_fit_as_there_are_rows() -> None:
    for rows, size in enumerate(SIZES):
        pairs = [[at, 3 + at] for at in range(16)]
        full = {"rule": 0, "rows": rows, "angles": 1, "asked": 0, "written": pairs[:size]}
        (shown,) = ask(MADE, full)
        assert all(one["says"] == one["number"] for one in shown["shelf"])
        assert shown["off"] < 1e-6
        if size < 16:
            (over,) = ask(MADE, {**full, "written": pairs[: size + 1]})
            assert over["off"] > 0.5
