"""What a decoder refuses: a step that scores something else, and sizes that are none."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch

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
def test_a_step_gives_logits_a_state_and_weights_of_every_row(how: str) -> None:
    rows = 2 * ROWS if how == "beam" else ROWS
    logits, weights = (
        rf"^step: gave {part} of shape \(.*\), wanted \({rows}, " for part in ("logits", "weights")
    )
    cases: list[tuple[Any, type[Exception], str]] = [
        *((lambda rows, given=shape: (torch.zeros(given), None, None), ValueError, logits)
          for shape in ((rows, 1, WORDS), (1, WORDS), (WORDS,))),
        (lambda rows: (torch.zeros(rows, WORDS), None, torch.zeros(2 * rows, 5)),
         ValueError, weights),
        (lambda rows: (torch.zeros(rows, WORDS), None), TypeError, "gave 2 values, wanted logits"),
        (lambda rows: (torch.zeros(rows, WORDS).long(), None, None), TypeError,
         "gave logits of torch.int64, wanted a floating tensor"),
    ]  # fmt: skip
    for given, error, message in cases:
        with pytest.raises(error, match=message):
            decode(how, lambda tokens, state, given=given: given(len(tokens)))
    with pytest.raises(TypeError, match=r"bos_id: got .*, wanted a whole number"):
        decode(how, lambda tokens, state: None, bos_id=None)


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
