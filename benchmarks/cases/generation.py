"""Greedy generation by a Llama, beside Hugging Face's library and beside no cache."""

import tempfile
import time
from collections.abc import Iterator
from functools import partial
from operator import truediv
from statistics import median
from typing import Any, NamedTuple

import torch
from torch import Tensor

from benchmarks.cases import Case
from benchmarks.contest import Contest, Entrant, Field, Result, hold
from benchmarks.records import Goal, Reading, row_of
from benchmarks.timing import Protocol, speed, spread
from companion.decoding import greedy
from companion.models.pretrained import from_pretrained
from companion.models.transformer import LanguageModel

PEER, OURS = "Hugging Face", "with a cache"


class Size(NamedTuple):
    """Shape of a Llama with 8 heads, 2 of them of keys and values, and how much it writes."""

    width: int
    layers: int
    hidden: int
    vocab: int
    tokens: int

    def __str__(self) -> str:
        return f"width {self.width}, {self.layers} layers"


SMALL, STEPPED = Size(128, 4, 352, 1000, 512), Size(256, 4, 704, 1000, 512)
GOALS = {
    SMALL: Goal(1.8, aim=2.5),
    STEPPED: Goal(1.8, aim=2.0),
    Size(512, 6, 1408, 1000, 128): Goal(1.0),
    Size(1024, 8, 2816, 1000, 32): Goal(0.9, aim=1.0),
}
"""By size: Python's share of a step shrinks with the width, and with it what can be gained."""
BATCHES, PROMPT = (1, 8), 8
QUICK = Size(16, 2, 24, 11, 6)
SOME = 8
"""Steps at either end that one reading is the median of."""

RECOMPUTING = Goal(30.0)
GROWTH = Goal(1.6, side="at most")


def run(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time whole generations, then the first and the last steps of one."""
    for size in [QUICK] if quick else GOALS:
        for batch in BATCHES:
            setting = f"{size.tokens} tokens, batch {batch}, {size}"
            contest = Contest(setting, partial(prepare, size, batch), {PEER: GOALS.get(size)})
            yield from hold(contest, protocol)
    yield from steps(QUICK if quick else STEPPED, rounds=protocol.least)


def prepare(size: Size, batch: int) -> Field:
    """Make both models of the same weights; Hugging Face's tokens are what ours must be."""
    theirs, ours, prompt = models(size, batch)
    calls = {
        OURS: partial(generated, ours, prompt, size.tokens),
        PEER: partial(generated_by_peer, theirs, prompt, size.tokens),
    }
    true = (calls[PEER](),)
    return Field({name: Entrant(call, true) for name, call in calls.items()})


def models(size: Size, batch: int) -> tuple[Any, LanguageModel, Tensor]:
    """Return Hugging Face's model with random weights, ours read from its file, and prompts."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=size.vocab,
        hidden_size=size.width,
        intermediate_size=size.hidden,
        num_hidden_layers=size.layers,
        num_attention_heads=8,
        num_key_value_heads=2,
        max_position_embeddings=2 * (PROMPT + size.tokens),
        initializer_range=0.2,  # so that no two words score so alike that rounding decides
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
    )
    theirs = LlamaForCausalLM(config).eval()
    with tempfile.TemporaryDirectory() as folder:
        theirs.save_pretrained(folder)
        ours = from_pretrained(folder)
    assert isinstance(ours, LanguageModel)
    generator = torch.Generator().manual_seed(batch)
    return theirs, ours, torch.randint(1, size.vocab, (batch, PROMPT), generator=generator)


def generated(model: LanguageModel, prompt: Tensor, count: int) -> Tensor:
    """Return the tokens that ours writes."""
    state = model.start(prompt, max_len=count)
    return greedy(
        model.step, state, batch_size=len(prompt), bos_id=state.last, eos_id=-1, max_len=count
    ).tokens


def generated_by_peer(model: Any, prompt: Tensor, count: int) -> Tensor:
    """Return the tokens that Hugging Face's model writes, with its own cache."""
    written: Tensor = model.generate(
        prompt, max_new_tokens=count, do_sample=False, use_cache=True, pad_token_id=0
    )
    return written[:, prompt.shape[1] :]


def steps(size: Size, rounds: int) -> Iterator[Result]:
    """Compare the last steps with the first, and with the same ones when nothing is kept."""
    batch, count = BATCHES[-1], size.tokens
    some = min(SOME, count // 2)
    _, model, prompt = models(size, batch)
    text = torch.cat((prompt, generated(model, prompt, count)), 1)
    names = f"first {some} tokens", f"last {some} of {count} tokens", "recomputing"
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        kept = step_seconds(model, text, PROMPT, use_cache=True)
        anew = step_seconds(model, text, text.shape[1] - some, use_cache=False)
        for name, some_seconds in zip(names, (kept[:some], kept[-some:], anew), strict=True):
            seconds[name].append(median(some_seconds))
    setting = f"a step, batch {batch}, {size}"
    for name, values in seconds.items():
        yield Reading.of(setting, name, values)
    first, last, recomputing = seconds.values()
    gained, goal = speed(last, recomputing), RECOMPUTING
    yield row_of(gained, setting=setting, ours=names[1], peer=names[2], goal=goal)
    grown, told = spread(list(map(truediv, last, first))), f"{setting}: time of it"
    yield row_of(grown, setting=told, ours=names[1], peer=names[0], goal=GROWTH)


@torch.no_grad()
def step_seconds(model: LanguageModel, text: Tensor, begin: int, *, use_cache: bool) -> list[float]:
    """Read a text from a position on, and return what every step took until its token was chosen.

    Raises:
        AssertionError: a token is not the one of the text.
    """
    state = model.start(text[:, :begin], max_len=text.shape[1], use_cache=use_cache)
    seconds, last = [], state.last
    for wanted in text[:, begin:].unbind(1):
        began = time.process_time()
        output = model.step(last, state)
        chosen = output.logits.argmax(-1)
        seconds.append(time.process_time() - began)
        assert torch.equal(chosen, wanted), "the model chose another token than before"
        last, state = wanted, output.state
    return seconds


SETTINGS: dict[str, object] = {
    "heads": [8, 2], "prompt": PROMPT, "vocabulary": 1000, "dtype": "float32",
}  # fmt: skip
CASES = {"generation": Case("Greedy generation by a Llama", SETTINGS, run)}
