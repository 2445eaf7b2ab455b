"""Mistakes of attention, as functions that a language model can be given in place of its own.

Twelve are the lesson "From scratch"'s, and six are the bug museum's. Each is called as
`LanguageModel.with_attention(..., repeat_kv=False)` calls it: with a query (b, h, q, d), a key and
a value (b, g, k, d), the last query at the last key, and the mask (q, k). It gives (b, h, q, d).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from bookkit.exercises.silent import weigh
from bookkit.playables.switchboard import SWITCHES
from companion.attention import attend, scaled_dot_product_attention
from companion.heads import repeat_kv
from companion.positions import rotary_frequencies, rotate
from companion.scores import scaled_dot_score

Attention = Callable[..., Tensor]

BASE = 100_000.0
"""Ratio of the rotary frequencies of SmolLM2-135M."""
CAP = 50.0
"""The bound of the scores in Gemma 2."""


def right(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Attend causally, as the model was trained to."""
    return _weighed("", query, key, value, mask)


def _weighed(mistake: str, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    return _blend(weigh(query, repeat_kv(key, query), mistake), query, value)


def _by_a_view(heads: Tensor) -> Tensor:
    """Cut (b, n, h * d) into heads (b, h, n, d) without exchanging words and heads."""
    return heads.transpose(1, 2).reshape(heads.shape)


def _joined_by_a_view(attention: Attention, *given: Tensor) -> Tensor:
    """Return what the layer, which joins heads correctly, turns into a join by a view."""
    blend = attention(*given)
    b, h, q, d = blend.shape
    return blend.reshape(b, q, h, d).transpose(1, 2)


def _viewed(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    return _joined_by_a_view(right, *map(_by_a_view, (query, key, value)), mask)


def _scaled_by_the_model(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    scale = 1 / math.sqrt(query.shape[1] * query.shape[-1])
    return scaled_dot_product_attention(query, key, value, mask, scale=scale, enable_gqa=True)


def _tiled(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    times = query.shape[1] // key.shape[1]
    return right(query, key.repeat(1, times, 1, 1), value.repeat(1, times, 1, 1), mask)


def _neighbours(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Turn back what the layer has turned by halves, and turn neighbours instead."""
    frequencies = rotary_frequencies(query.shape[-1], base=BASE)
    places = torch.arange(key.shape[-2])

    def turned(heads: Tensor, at: Tensor) -> Tensor:
        plain = rotate(heads, -at, frequencies=frequencies)
        return rotate(plain, at, frequencies=frequencies, interleaved=True)

    return right(turned(query, places[-query.shape[-2] :]), turned(key, places), value, mask)


def _scores(query: Tensor, key: Tensor, mask: Tensor, forbidden: float = -math.inf) -> Tensor:
    scores: Tensor = scaled_dot_score(query, repeat_kv(key, query))
    return scores.masked_fill(~mask, forbidden)


def _blend(weights: Tensor, query: Tensor, value: Tensor) -> Tensor:
    blend: Tensor = attend(weights, repeat_kv(value, query))
    return blend


def _capped_late(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    scores = CAP * torch.tanh(_scores(query, key, mask) / CAP)
    return _blend(scores.softmax(-1), query, value)


def _one_more_below(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    scores = _scores(query, key, mask)
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return _blend(powers / (powers.sum(-1, keepdim=True) + 1), query, value)


def _large_penalty(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    return _blend(_scores(query, key, mask, -1e9).softmax(-1), query, value)


@dataclass(frozen=True)
class Mistake:
    """A mistake in a line of attention."""

    does: str  # one sentence
    attention: Attention
    exhibit: str = ""  # its name in the museum; "" for a mistake of "From scratch"


_VIEWS: dict[str, Attention] = {
    "heads by a view": _viewed,
    "joined by a view": partial(_joined_by_a_view, right),
}
MISTAKES = {
    name: Mistake(does, _VIEWS.get(name, partial(_weighed, name)))
    for name, does in SWITCHES.items()
} | {
    "scale of the model": Mistake(
        "The scores are divided by the root of all heads' widths together, 24 instead of 8.",
        _scaled_by_the_model, "the wrong width",
    ),
    "key heads tiled": Mistake(
        "The key heads are copied as 1 2 3 1 2 3 1 2 3 instead of 1 1 1 2 2 2 3 3 3.",
        _tiled, "tile or repeat",
    ),
    "neighbours rotated": Mistake(
        "Positions turn numbers 1 and 2 of a head together, where the weights expect 1 and 33.",
        _neighbours, "loaded weights",
    ),
    "capped after the mask": Mistake(
        "A bound of 50 on the scores comes after the mask, so forbidden ones become -50.",
        _capped_late, "the late cap",
    ),
    "one more below": Mistake(
        "1 is added to what a softmax divides by, after the largest score was subtracted.",
        _one_more_below, "off by one",
    ),
    "-1e9 for infinity": Mistake(
        "A forbidden score becomes -1,000,000,000 instead of minus infinity.",
        _large_penalty, "the average of all",
    ),
}  # fmt: skip
"""The mistakes by name."""
WRITTEN = Path(__file__).parent / "data" / "written.json"
"""What a model wrote for two lessons: `python -m experiments.tools.page_texts` wrote it."""
ANSWERS = Path(__file__).parent / "data" / "inside.json"
"""What a model answered with each: `python -m experiments.tools.page_answers` wrote it."""
NEEDS_ALL_QUERIES = "query and key swapped"
"""The mistake that stops with an error where there are fewer queries than keys."""


def side_by_side(attentions: Sequence[Attention]) -> Attention:
    """Let the first text of a batch have the first attention, the second the second, and so on.

    >>> one = torch.ones(2, 1, 1, 1)
    >>> sees = torch.ones(1, 1, dtype=torch.bool)
    >>> side_by_side([right, lambda q, k, v, mask: 0 * q])(one, one, one, sees).flatten()
    tensor([1., 0.])
    """

    def each(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        texts = zip(attentions, query[:, None], key[:, None], value[:, None], strict=True)
        return torch.cat([attention(*heads, mask) for attention, *heads in texts])

    return each
