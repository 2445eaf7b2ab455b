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


def scoring(given: Any) -> Callable[[Tensor, Any], Any]:
    """A step that gives what it is told to give for so many rows."""
    return lambda tokens, state: given(len(tokens))


def test_logits_and_weights_are_one_row_a_sequence() -> None:
    for how in DECODERS:
        rows = 2 * ROWS if how == "beam" else ROWS
        shape: tuple[int, ...]
        given: Any
        for shape in ((rows, 1, WORDS), (2 * rows, WORDS), (1, WORDS), (WORDS,), ()):
            given = torch.zeros(shape), None, None
            with pytest.raises(
                ValueError, match=r"step: gave logits of shape \(.*\), wanted \(\d, "
            ):
                decode(how, scoring(lambda rows, given=given: given))
        for shape in ((rows, 1, 5), (2 * rows, 5), (5,)):
            given = torch.zeros(rows, WORDS), None, torch.zeros(shape)
            with pytest.raises(
                ValueError, match=r"step: gave weights of shape \(.*\), wanted \(\d, "
            ):
                decode(how, scoring(lambda rows, given=given: given))


GIVEN: list[tuple[Callable[[int], Any], str]] = [
    (lambda rows: torch.zeros(rows, WORDS), "step: gave Tensor, wanted logits, a state, and"),
    (lambda rows: (torch.zeros(rows, WORDS), None), "step: gave 2 values, wanted logits"),
    (
        lambda rows: (torch.zeros(rows, WORDS, dtype=torch.int64), None, None),
        r"step: gave logits of torch.int64, wanted a floating tensor",
    ),
    (lambda rows: ([[0.0] * WORDS] * rows, None, None), "step: gave logits of list"),
]


def test_a_step_is_a_function_that_gives_logits_a_state_and_weights() -> None:
    for how in DECODERS:
        for given, message in GIVEN:
            with pytest.raises(TypeError, match=message):
                decode(how, scoring(given))
        wrong: Any
        for wrong, came in (([1.0], "list"), ("model", "'model'"), (None, "None")):
            with pytest.raises(TypeError, match=f"step: got {came}.*, wanted a function"):
                decode(how, wrong)


def test_numbers_are_whole() -> None:
    for how in DECODERS:
        step = scoring(lambda rows: (torch.zeros(rows, WORDS), None, None))
        wrong: dict[str, tuple[Any, ...]] = {
            "max_len": (3.5,), "batch_size": (3.0,), "eos_id": (None, [0, 2]), "bos_id": (1.0, None)
        }  # fmt: skip
        for name, values in wrong.items():
            for value in values:
                came = type(value).__name__
                with pytest.raises(TypeError, match=f"{name}: got {came}, wanted a whole number"):
                    decode(how, step, **{name: value})


class Nested(NamedTuple):
    position: int
    parts: tuple[Any, ...]


def test_one_token_for_all_is_put_where_the_state_is() -> None:
    rows: list[Any] = [
        torch.ones(2, device="meta"),
        Nested(3, (None, [torch.ones(2, device="meta")], torch.ones(2))),
    ]
    for state in rows:
        first = first_tokens(7, 5, state)
        assert first.device.type == "meta"
        assert first.shape == (5,)
        assert first_tokens(torch.tensor([7, 7]), 2, state).device.type == "cpu"
        assert first_tokens(7, 2, Nested(3, (None, ()))).tolist() == [7, 7]
