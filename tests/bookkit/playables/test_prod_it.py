"""The black boxes in Node: their numbers are the package's, and their maps those of the museum."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from bookkit.figures import prod_it
from bookkit.museum import EXHIBITS
from bookkit.museum.exhibit import two_inputs
from bookkit.playables.prodding import BOXES, BUGS, ORDERS
from companion.attention import scaled_dot_product_attention
from companion.conformance import influence
from companion.masks import causal_mask, sliding_window_mask
from tests.bookkit.playables.node import ask

X, OTHER = two_inputs()
HEADS = 4
WORDS = ["she", "works", "in", "the", "new", "house"]
MADE = prod_it(
    WORDS, list("abcdef"), X[0].numpy(), OTHER[0].numpy(), beside=X[1].numpy(), heads=HEADS
)
MASKS = {
    "both": torch.ones(6, 6, dtype=torch.bool),
    "causal": causal_mask(6, like=X),
    "window": sliding_window_mask(6, left=2, like=X),
    "filler": torch.arange(6) < torch.full((6, 1), 3),
    "cache": causal_mask(6, like=X),
}
READ = {
    "w or w + 1": sliding_window_mask(6, left=3, like=X),
    "looked at": MASKS["both"],
    "first-key corner": torch.arange(6) < torch.ones(6, 1),
}
ALL = ask(MADE, *({"rounds": [box] * 10} for box in range(len(BOXES))))


def by_the_package(order: str, bug: str, x: Tensor) -> Tensor:
    """Attend by the package, (2, 6, 8) to the same shape; the first sentence is the box's."""
    if bug == "the wrong axis":
        return by_the_package("both", "sound", x.transpose(0, 1)).transpose(0, 1)
    mask = ~MASKS[order] if bug == "upside down" else READ.get(bug, MASKS[order])
    b, n, e = x.shape
    heads = x.reshape(b, n, HEADS, e // HEADS).transpose(1, 2)
    if bug == "a view":
        heads = x.reshape(b, HEADS, n, e // HEADS)
    output: Tensor = scaled_dot_product_attention(heads, heads, heads, mask[:n, :n])
    return (output if bug == "a view" else output.transpose(1, 2)).reshape(x.shape)


@pytest.mark.parametrize("number", range(len(BOXES)), ids=[", ".join(box) for box in BOXES])
def test_outputs_before_and_after_every_press_are_those_of_the_package(number: int) -> None:
    shown, box = ALL[number], BOXES[number]
    np.testing.assert_allclose(shown["before"], by_the_package(*box, X)[0], atol=1e-6)
    for j, after in enumerate(shown["after"]):
        changed = X.clone()
        changed[0, j] = OTHER[0, j]
        np.testing.assert_allclose(after, by_the_package(*box, changed)[0], atol=1e-6)


def in_steps(start: Any) -> Any:
    def fed(x: Tensor) -> Tensor:
        step = start()
        return torch.cat([step(x[:, i : i + 1]) for i in range(6)], 1)

    return fed


@pytest.mark.parametrize(("order", "bug"), [box for box in BOXES[:7] if box[1] != "sound"])
@pytest.mark.parametrize("kind", ["broken", "sound"])
def test_maps_are_those_of_the_museum(order: str, bug: str, kind: str) -> None:
    variant = getattr(EXHIBITS[bug], kind)
    called = {
        "first-key corner": in_steps(variant),
        "looked at": lambda x: variant(x, torch.tensor([3, 3])),
    }
    shown = ALL[BOXES.index((order, bug if kind == "broken" else "sound"))]["map"]
    np.testing.assert_array_equal(shown, influence(called.get(bug, variant), X, OTHER))


def test_the_second_word_tells_all_boxes_apart_and_with_filler_one_more_does() -> None:
    for order in ORDERS:
        presses = [1, 3] if order == "filler" else [1]
        seen = [
            np.asarray(one["map"])[:, presses].tolist()
            for (ordered, _), one in zip(BOXES, ALL, strict=True)
            if ordered == order
        ]
        assert all(seen.count(columns) == 1 for columns in seen), order
    assert {bug for _, bug in BOXES} == set(BUGS)


def test_a_game_counts_names_and_presses() -> None:
    state = {"round": 1, "pressed": [1], "named": ["upside down", "a view"], "counts": [2, 1]}
    (shown,) = ask(MADE, state)
    assert (shown["right"], shown["presses"]) == (1, 3)
    (said,) = ask(MADE, state, want="said")
    assert said.startswith("No: it is “the wrong axis”.")
