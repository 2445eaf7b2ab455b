"""Reading a prompt and writing an answer with SmolLM2-135M, beside Hugging Face's library."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from benchmarks.cases import Case
from benchmarks.cases.generation import OURS, PEER, generated, generated_by_peer
from benchmarks.contest import Contest, Entrant, Field, Result, hold
from benchmarks.peers.huggings_llama import llama_from_gguf
from benchmarks.records import Goal
from benchmarks.timing import Protocol
from companion.models.smollm import WHEEL, smollm, wheel_file
from companion.models.transformer import LanguageModel

Call = Callable[[Any, Tensor], Tensor]
PROMPT, WRITTEN = 500, 64
"""No round number of tiles: torch's operator takes a tenth longer for 511 queries than for 512, and
ours reads all but the last token at once."""
GOAL, ROUNDING = Goal(1.0), 1e-4


def run(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time a prompt of many tokens, then an answer to a prompt of few.

    Raises:
        ModuleNotFoundError: the model's wheel is not installed.
    """
    read, count = (5, 2) if quick else (PROMPT, WRITTEN)
    writing = partial(generated, count=count), partial(generated_by_peer, count=count)
    for setting, length, calls in (
        (f"prefill of {read} tokens", read, (read_by_us, read_by_peer)),
        (f"{count} tokens behind 5", 5, writing),
    ):
        contest = Contest(setting, partial(prepare, length, *calls), {PEER: GOAL})
        yield from hold(contest, protocol)


def prepare(length: int, by_us: Call, by_peer: Call) -> Field:
    """Draw a text; what the peer makes of it is what ours must make."""
    theirs, ours = both()
    generator = torch.Generator().manual_seed(0)
    text = torch.randint(100, 10_000, (1, length), generator=generator)
    calls = {OURS: partial(by_us, ours, text), PEER: partial(by_peer, theirs, text)}
    entrants = {name: Entrant(call, (calls[PEER](),)) for name, call in calls.items()}
    return Field(entrants, allowed=ROUNDING)


@cache
def both() -> tuple[Any, LanguageModel]:
    """Return the model as Hugging Face's library reads it, with no end of a text, and ours."""
    ours, path = smollm()[0], wheel_file()
    assert path is not None
    return llama_from_gguf(path), ours


@torch.no_grad()
def read_by_us(model: LanguageModel, text: Tensor) -> Tensor:
    """Return the logits that follow, (1, vocabulary)."""
    state = model.start(text, max_len=1)
    return model.step(state.last, state).logits


@torch.no_grad()
def read_by_peer(model: Any, text: Tensor) -> Tensor:
    """Return the logits that follow, (1, vocabulary), as the library computes them to go on."""
    logits: Tensor = model(text, use_cache=True, logits_to_keep=1).logits
    return logits[:, -1]


SETTINGS: dict[str, object] = {"model": WHEEL, "dtype": "float32"}
CASES = {"smollm": Case("A real language model, SmolLM2-135M", SETTINGS, run)}
