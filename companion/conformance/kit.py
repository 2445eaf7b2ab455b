"""The checks of the kit, each with what it asks and where the book shows what it finds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from companion.arrays import namespace
from companion.conformance._outputs import Flags, constant_like, mask_like, plain_numbers
from companion.conformance.attention import check_dead_row, check_large_scores, check_scale
from companion.conformance.caches import check_cached
from companion.conformance.causality import check_offset, check_prefixes
from companion.conformance.heads import check_grouped, check_heads
from companion.conformance.results import check_definition, check_dtype, check_lse, check_weights
from companion.conformance.scores import check_bias, check_softcap
from companion.conformance.sequences import check_alone, check_padding, check_permutation
from companion.conformance.signature import DTYPES, NotOfferedError, Subject, in_dtype
from companion.conformance.sinks import check_sinks
from companion.conformance.visibility import check_causal, check_influence, check_mask, check_reach

MUSEUM = "appendices/museum.html"
HEADS, WIDTH = 2, 16
LENGTH, WINDOW = 6, 3


@dataclass(frozen=True)
class Check:
    """One question to an attention function.

    Attributes:
        name: as it is selected with pytest's `-k`.
        asks: the question.
        exhibit: heading of the bug museum under which the mistake is shown.
        run: raises an `AssertionError` that hints at the mistake, or `NotOfferedError`.
    """

    name: str
    asks: str
    exhibit: str
    run: Callable[[Subject], None]

    @property
    def page(self) -> str:
        """The address of the exhibit, from the root of the book."""
        anchor = re.sub(r"[^a-z0-9]+", "-", self.exhibit.lower()).strip("-")
        return f"{MUSEUM}#{anchor}"


@dataclass(frozen=True)
class Finding:
    """What came of a check.

    Attributes:
        check: the check.
        verdict: "passed", "failed" or "skipped".
        says: what the check says of a mistake, or why it was skipped.
    """

    check: Check
    verdict: Literal["passed", "failed", "skipped"]
    says: str = ""

    def __str__(self) -> str:
        """Say it in a line."""
        told = f"{self.verdict:7} {self.check.name}: {self.says or self.check.asks}"
        return f"{told} [{self.check.exhibit}]" if self.verdict == "failed" else told


def examine(attention: Subject) -> Iterator[Finding]:
    """Yield what each check finds.

    >>> import torch
    >>> from companion.conformance import subject
    >>> def unscaled(query, key, value):
    ...     return torch.softmax(query @ key.mT, -1) @ value
    >>> for finding in examine(subject(unscaled, arrays="torch")):
    ...     if finding.verdict == "failed":
    ...         print(finding.check.name, "->", finding.check.exhibit)
    definition -> The fast path
    scale -> The wrong width
    """
    for check in KIT:
        try:
            check.run(attention)
        except NotOfferedError as reason:
            yield Finding(check, "skipped", str(reason))
        except AssertionError as mistake:
            yield Finding(check, "failed", str(mistake))
        except Exception as error:
            yield Finding(check, "failed", stopped(error))
        else:
            yield Finding(check, "passed")


def stopped(error: Exception) -> str:
    """Say that a call stopped with an error of its own.

    >>> stopped(ValueError("no"))
    'the call stopped with ValueError: no'
    """
    return f"the call stopped with {type(error).__name__}: {error}"


# How the kit calls the function. Inputs of the checks are (b, n, h, d), positions in axis 1.


def _two_inputs(attention: Subject, b: int = 2) -> tuple[Any, Any]:
    draw = np.random.default_rng(0)
    # Short vectors: a weight on the own position near 1 would hide the others.
    x, other = 0.5 * draw.normal(size=(2, b, LENGTH, HEADS, WIDTH))
    return constant_like(attention.like, x), constant_like(attention.like, other)


def _turned(x: Any) -> Any:
    """Exchange positions and heads."""
    return namespace(x).permute_dims(x, (0, 2, 1, 3))


def _to_itself(attention: Subject, **options: Any) -> Callable[..., Any]:
    """Return a function from x to the attention of x to itself; a mask may come beside x."""
    attention.needs(*options)

    def function(x: Any, mask: Any = None) -> Any:
        masks = {} if mask is None else {"attn_mask": mask}
        heads = _turned(x)
        return _turned(attention(heads, heads, heads, **masks, **options))

    return function


def _with(attention: Subject, **options: Any) -> Callable[..., Any]:
    attention.needs(*options)
    return lambda query, key, value: attention(query, key, value, **options)


# The checks


def _scale_argument(attention: Subject) -> None:
    check_scale(_with(attention, scale=0.3), WIDTH, like=attention.like, scale=0.3)


def _mask(attention: Subject) -> None:
    attention.needs("attn_mask")
    check_mask(_to_itself(attention), *_two_inputs(attention))


def _bias(attention: Subject) -> None:
    attention.needs("attn_mask")

    def biased(query: Any, key: Any, value: Any, mask: Any) -> Any:
        return attention(query, key, value, attn_mask=mask)

    check_bias(biased, like=attention.like)


def _both_masks(attention: Subject) -> None:
    function, (x, other) = _to_itself(attention, is_causal=True), _two_inputs(attention)
    attention.needs("attn_mask")
    allowed: Flags = np.ones((LENGTH, LENGTH), dtype=bool)
    allowed[2:, 1] = False
    mask = mask_like(allowed, x)
    try:
        function(x, mask)
    except Exception as error:
        raise NotOfferedError(f"it refuses both at once: {type(error).__name__}") from error
    check_influence(lambda x: function(x, mask), x, other, allowed & np.tri(LENGTH, dtype=bool))


def _padding(attention: Subject) -> None:
    attention.needs("attn_mask")
    function, (x, other) = _to_itself(attention), _two_inputs(attention)
    lengths = np.array([4, LENGTH])

    def padded(x: Any, lengths: Any) -> Any:
        real = np.arange(x.shape[1]) < np.asarray(lengths)[:, None, None, None]
        return function(x, mask_like(real, x))

    check_padding(padded, x, lengths, other)


def _masks_in_a_batch(attention: Subject) -> None:
    attention.needs("attn_mask")
    function, (x, _) = _to_itself(attention), _two_inputs(attention, b=3)

    def masked(x: Any) -> Any:
        """Attend to the half of the keys whose first number is larger: another mask a sequence."""
        first = plain_numbers(x)[:, :, 0, 0]
        allowed = first >= np.median(first, axis=1, keepdims=True)
        return function(x, mask_like(allowed[:, None, None, :], x))

    check_alone(masked, x)


def _dead_row(attention: Subject) -> None:
    attention.needs("attn_mask")
    check_dead_row(_to_itself(attention), *_two_inputs(attention))


def _offset_argument(attention: Subject) -> None:
    offset = attention.first_of("offset")
    function = _with(attention, is_causal=True, **{offset: 2})
    check_offset(function, like=attention.like, offset=2)


def _cached(attention: Subject) -> None:
    whole, (x, _) = _to_itself(attention, is_causal=True), _two_inputs(attention)
    how = attention.first_of("offset", "attn_mask")

    def start() -> Callable[[Any], Any]:
        seen: list[Any] = []

        def step(piece: Any) -> Any:
            offset = sum(earlier.shape[1] for earlier in seen)
            seen.append(piece)
            query, key = _turned(piece), _turned(namespace(piece).concat(seen, axis=1))
            if how == "offset":
                return _turned(attention(query, key, key, is_causal=True, offset=offset))
            mask: Flags = np.tri(query.shape[2], key.shape[2], offset, dtype=bool)
            return _turned(attention(query, key, key, attn_mask=mask_like(mask, piece)))

        return step

    check_cached(whole, start, x)


def _window(attention: Subject) -> None:
    name = attention.first_of("window", "left")
    options = {name: WINDOW if name == "window" else WINDOW - 1}
    function = _to_itself(attention, is_causal=True, **options)
    check_reach(function, *_two_inputs(attention), size=WINDOW)


def _softcap(attention: Subject) -> None:
    attention.needs("is_causal", "softcap")

    def capped(query: Any, key: Any, value: Any, cap: float) -> Any:
        return attention(query, key, value, is_causal=True, softcap=cap)

    check_softcap(capped, like=attention.like)


def _sinks(attention: Subject) -> None:
    attention.needs("sinks")

    def sunk(query: Any, key: Any, value: Any, sinks: Any = None) -> Any:
        options = {} if sinks is None else {"sinks": sinks}
        return attention(query, key, value, **options)

    check_sinks(sunk, like=attention.like)


def _dtype(dtype: str) -> Callable[[Subject], None]:
    def run(attention: Subject) -> None:
        like = in_dtype(attention.like, dtype)
        row = constant_like(like, np.ones((1, 1, 2, WIDTH)))
        try:
            attention(row, row, row)
        except Exception as error:
            raise NotOfferedError(f"it refuses {dtype}: {type(error).__name__}") from error
        check_dtype(attention, like=like)

    return run


KIT: tuple[Check, ...] = (
    Check(
        "definition", "Does it compute what a loop in float64 computes?", "The fast path",
        lambda attention: check_definition(attention, like=attention.like),
    ),
    Check(
        "scale", "Are products divided by the root of a head's width?", "The wrong width",
        lambda attention: check_scale(attention, WIDTH, like=attention.like),
    ),
    Check(
        "scale-argument", "Is a scale used that is asked for?", "The wrong width", _scale_argument,
    ),
    Check(
        "large-scores", "Do scores of ten thousand overflow?", "Off by one",
        lambda attention: check_large_scores(attention, like=attention.like),
    ),
    Check(
        "batch", "Does a sequence give the same alone as in its batch?", "The wrong axis",
        lambda attention: check_alone(_to_itself(attention), _two_inputs(attention, b=3)[0]),
    ),
    Check(
        "heads", "Does each head attend by itself?", "A view",
        lambda attention: check_heads(attention, like=attention.like),
    ),
    Check(
        "permutation", "Do positions in another order give the same in that order?", "A view",
        lambda attention: check_permutation(_to_itself(attention), _two_inputs(attention)[0]),
    ),
    Check(
        "grouped", "Do consecutive query heads share a key head?", "Tile or repeat",
        lambda attention: check_grouped(_with(attention, enable_gqa=True), like=attention.like),
    ),
    Check("mask", "Does True in a mask mean: may attend?", "Two libraries", _mask),
    Check("bias", "Is a mask of floating numbers added to the scores?", "Two libraries", _bias),
    Check(
        "causal", "Does the future stay hidden?", "Upside down",
        lambda attention: check_causal(
            _to_itself(attention, is_causal=True), *_two_inputs(attention)
        ),
    ),
    Check(
        "prefixes", "Does a longer text leave its beginning as it was?", "Ties",
        lambda attention: check_prefixes(
            _to_itself(attention, is_causal=True), _two_inputs(attention)[0]
        ),
    ),
    Check(
        "both-masks", "Does a causal mask go together with another one?", "Upside down",
        _both_masks,
    ),
    Check(
        "first-key", "Does a causal mask begin at the first key?", "First-key corner",
        lambda attention: check_offset(_with(attention, is_causal=True), like=attention.like),
    ),
    Check(
        "offset", "Does a causal mask begin where it is told to?", "First-key corner",
        _offset_argument,
    ),
    Check(
        "cached", "Does a text in pieces give what it gives as a whole?", "First-key corner",
        _cached,
    ),
    Check(
        "batch-mask", "Does a sequence keep its mask in a batch of others?", "The wrong axis",
        _masks_in_a_batch,
    ),
    Check("padding", "Does padding change nothing?", "Looked at", _padding),
    Check(
        "dead-row", "Is a query that may attend to nothing harmless?", "Zero by zero", _dead_row,
    ),
    Check("window", "Does a window of w reach w positions?", "w or w + 1", _window),
    Check("softcap", "Are scores bounded after the scale, before the mask?", "The late cap",
          _softcap),
    Check("sinks", "Do sinks take their share of every row?", "The missing sink", _sinks),
    Check(
        "weights", "Are the weights those that made the output?", "A row of weights",
        lambda attention: check_weights(
            _with(attention, need_weights=True), like=attention.like
        ),
    ),
    Check(
        "lse", "Is the log-sum-exp that of the scores?", "A row of weights",
        lambda attention: check_lse(_with(attention, need_lse=True), like=attention.like),
    ),
    *(
        Check(f"{dtype}", f"Does {dtype} come out as exact as it went in?", "Another type",
              _dtype(dtype))
        for dtype in DTYPES
    ),
)  # fmt: skip
"""All checks, in the order in which they are reported."""
