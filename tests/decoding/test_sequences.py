"""What a decoder refuses: a step that scores something else, and sizes that are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from companion.decoding import beam, greedy, sample
from companion.decoding.sequences import first_tokens

ROWS, WORDS = 3, 8
DECODERS: dict[str, Callable[..., Any]] = {
    "greedy": greedy,
    "sample": sample,
    "beam": lambda step, state, **options: beam(
        step, state, reorder=lambda state, indices: state, beam_size=2, **options
    ),
}


def decode(how: str, step: Any, **changes: Any) -> Any:
    options = {"batch_size": ROWS, "bos_id": 1, "eos_id": 0, "max_len": 2, **changes}
    return DECODERS[how](step, None, **options)


@pytest.mark.parametrize("how", DECODERS)
@pytest.mark.parametrize(
    "shape_of",
    [
        lambda rows: (rows, 1, WORDS),
        lambda rows: (2 * rows, WORDS),
        lambda rows: (1, WORDS),
        lambda rows: (WORDS,),
        lambda rows: (),
    ],
)
def test_logits_are_one_row_a_sequence(how: str, shape_of: Any) -> None:
    def step(tokens: Tensor, state: Any) -> Any:
        return torch.zeros(shape_of(len(tokens))), state, None

    with pytest.raises(ValueError, match=r"step: gave logits of shape \(.*\), wanted \(\d, voc"):
        decode(how, step)


@pytest.mark.parametrize("how", DECODERS)
@pytest.mark.parametrize(
    "shape_of", [lambda rows: (rows, 1, 5), lambda rows: (2 * rows, 5), lambda rows: (5,)]
)
def test_weights_are_one_row_a_sequence(how: str, shape_of: Any) -> None:
    def step(tokens: Tensor, state: Any) -> Any:
        return torch.zeros(len(tokens), WORDS), state, torch.zeros(shape_of(len(tokens)))

    with pytest.raises(ValueError, match=r"step: gave weights of shape \(.*\), wanted \(\d, k\)"):
        decode(how, step)


@pytest.mark.parametrize("how", DECODERS)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda rows: torch.zeros(rows, WORDS), "step: gave Tensor, wanted logits, a state, and"),
        (lambda rows: (torch.zeros(rows, WORDS), None), "step: gave 2 values, wanted logits"),
        (
            lambda rows: (torch.zeros(rows, WORDS, dtype=torch.int64), None, None),
            r"step: gave logits of torch.int64, wanted a floating tensor",
        ),
        (lambda rows: ([[0.0] * WORDS] * rows, None, None), "step: gave logits of list"),
    ],
)
def test_a_step_gives_logits_a_state_and_weights(how: str, given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        decode(how, lambda tokens, state: given(len(tokens)))


@pytest.mark.parametrize("how", DECODERS)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_len": 3.5}, "max_len: got float, wanted a whole number"),
        ({"batch_size": 3.0}, "batch_size: got float, wanted a whole number"),
        ({"eos_id": None}, "eos_id: got NoneType, wanted a whole number"),
        ({"eos_id": [0, 2]}, "eos_id: got list, wanted a whole number"),
        ({"bos_id": 1.0}, "bos_id: got float, wanted a whole number"),
        ({"bos_id": None}, "bos_id: got NoneType, wanted a whole number"),
    ],
)
def test_numbers_are_whole(how: str, changes: dict[str, Any], message: str) -> None:
    def step(tokens: Tensor, state: Any) -> Any:
        return torch.zeros(len(tokens), WORDS), state, None

    with pytest.raises(TypeError, match=message):
        decode(how, step, **changes)


@pytest.mark.parametrize("how", DECODERS)
@pytest.mark.parametrize(("step", "came"), [([1.0], "list"), ("model", "'model'"), (None, "None")])
def test_a_step_is_a_function(how: str, step: Any, came: str) -> None:
    with pytest.raises(TypeError, match=f"step: got {came}.*, wanted a function"):
        decode(how, step)


class Nested(NamedTuple):
    position: int
    parts: tuple[Any, ...]


@pytest.mark.parametrize(
    "state",
    [
        torch.ones(2, device="meta"),
        Nested(3, (None, [torch.ones(2, device="meta")], torch.ones(2))),
    ],
)
def test_one_token_for_all_is_put_where_the_state_is(state: Any) -> None:
    first = first_tokens(7, 5, state)
    assert first.device.type == "meta"
    assert first.shape == (5,)
    assert first_tokens(torch.tensor([7, 7]), 2, state).device.type == "cpu"
    assert first_tokens(7, 2, Nested(3, (None, ()))).tolist() == [7, 7]
