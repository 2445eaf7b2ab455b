"""Hold one architecture against its reference: values, causality, caches and their bytes."""

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import torch
import transformers
from torch import Tensor, nn
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from bookkit.atlas.published import published
from companion.models.atlas import DecoderModel, read_config, read_weights
from companion.models.atlas.model import state_numbers
from experiments.atlas.rows import Row

LENGTH, BATCH, CHANGED = 23, 2, 17


@dataclass(frozen=True)
class Outcome:
    """What one architecture gave at toy size, in float32; differences are the largest of logits.

    Attributes:
        difference: between ours and the reference.
        size: largest logit of the reference, to compare with.
        leak: of ours at tokens before a change of the text.
        cached: between ours with a cache, at every split and token by token, and at once.
        reference_leak: of the reference at tokens before a change of the text.
        reference_cached: between the reference with its cache, token by token, and at once.
        bytes: of our formula, for a text of `LENGTH` tokens.
        held_bytes: that our states really hold.
        reference_bytes: that the reference's own cache holds, what it holds twice counted once.
    """

    difference: float
    size: float
    leak: float
    cached: float
    reference_leak: float
    reference_cached: float
    bytes: int
    held_bytes: int
    reference_bytes: int


def toy_config(row: Row) -> Any:
    """Return the configuration of an architecture at toy size, of the library's own class."""
    return CONFIG_MAPPING[row.name](**deepcopy(row.fields))  # the library writes into what it gets


def default_config(row: Row) -> Any:
    """Return the configuration of an architecture with the defaults of the library's class."""
    return CONFIG_MAPPING[row.name]()


def shown_config(row: Row) -> Any:
    """Return the configuration of the published model that is shown, or that with the defaults."""
    return CONFIG_MAPPING[row.name](**deepcopy(dict(published()[row.name].config)))


def build(row: Row, seed: int = 0) -> tuple[DecoderModel, Any]:
    """Build an architecture twice, with the same random weights: ours, and the reference."""
    torch.manual_seed(seed)
    config = toy_config(row)
    automatic = getattr(transformers, row.auto)
    reference = automatic.from_config(
        config, attn_implementation="eager", experts_implementation="eager"
    )
    reference = reference.eval().float()
    _stir(reference, row.factors)
    fields = config.to_dict()
    model = DecoderModel(read_config(fields, path=row.name)).eval()
    read_weights(model, fields, reference.state_dict(), path=row.name)
    return model, reference


@torch.no_grad()
def check(row: Row) -> Outcome:
    """Compare an architecture with its reference."""
    model, reference = build(row)
    tokens = torch.randint(3, model.spec.vocab_size, (BATCH, LENGTH))
    changed = tokens.clone()
    changed[:, CHANGED:] = torch.randint(3, model.spec.vocab_size, (BATCH, LENGTH - CHANGED))

    with first_of_ties(row):
        theirs = reference(tokens, use_cache=False).logits
    ours, states = model(tokens)
    plain = reference(tokens, use_cache=False).logits
    cache, stepped = None, []
    for token in torch.split(tokens, 1, dim=1):
        output = reference(token, use_cache=True, **{row.cache: cache})
        cache = output[row.cache]
        stepped.append(output.logits)
    return Outcome(
        difference=_largest(ours - theirs),
        size=_largest(theirs),
        leak=_largest(model(changed)[0][:, :CHANGED] - ours[:, :CHANGED]),
        cached=max(_largest(pieces - ours) for pieces in _pieces(model, tokens)),
        reference_leak=_largest((reference(changed, use_cache=False).logits - plain)[:, :CHANGED]),
        reference_cached=_largest(torch.cat(stepped, 1) - plain),
        bytes=model.spec.state_bytes(LENGTH, BATCH, itemsize=4),
        held_bytes=4 * state_numbers(states),
        reference_bytes=sum(_tensor_bytes(cache)) - row.held_twice,
    )


@contextmanager
def first_of_ties(row: Row) -> Iterator[None]:
    """Let torch.topk take the earlier of equal scores while a reference with ties runs."""
    plain = Tensor.topk

    def stable(scores: Tensor, k: int, dim: int = -1, **_: Any) -> Any:
        order = torch.argsort(scores, dim=dim, descending=True, stable=True).narrow(dim, 0, k)
        return torch.return_types.topk((scores.gather(dim, order), order))

    if row.ties:
        Tensor.topk = stable  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Tensor.topk = plain  # type: ignore[method-assign]


def _stir(reference: nn.Module, factors: Mapping[str, float]) -> None:
    """Make random what begins at a constant: zeros and ones hide what is done with them."""
    for name, stored in reference.state_dict().items():
        single = stored.numel() == 1
        if stored.is_floating_point() and (bool(stored == 1) if single else stored.std() == 0):
            stored += 0.3 * torch.randn_like(stored)
        if not stored.is_floating_point() and stored.ndim == 2:
            stored.random_(0, 4)  # a table of experts, of which there are at least so many
        for pattern, factor in factors.items():
            stored *= factor if fnmatchcase(name, pattern) else 1


def _pieces(model: DecoderModel, tokens: Tensor) -> Iterator[Tensor]:
    """Read tokens in two pieces, at every split, and one by one."""
    for split in range(1, LENGTH):
        first, kept = model(tokens[:, :split])
        second, _ = model(tokens[:, split:], kept)
        yield torch.cat((first, second), 1)
    states: tuple[Any, ...] | None = None
    steps = []
    for token in torch.split(tokens, 1, dim=1):
        logits, states = model(token, states)
        steps.append(logits)
    yield torch.cat(steps, 1)


def _largest(difference: Tensor) -> float:
    largest = float(difference.abs().max())
    return math.inf if math.isnan(largest) else largest


def _tensor_bytes(cache: Any) -> Iterator[int]:
    """Count the bytes of the tensors that a cache of the library holds, each once."""
    seen: set[int] = set()
    waiting: list[Any] = [*cache.layers, *getattr(cache, "linear_cache", ())]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, Tensor):
            if thing.is_floating_point():
                yield thing.nbytes
        elif isinstance(thing, dict):
            waiting += thing.values()
        elif isinstance(thing, (list, tuple)):
            waiting += thing
        elif hasattr(thing, "__dict__"):
            waiting += vars(thing).values()
