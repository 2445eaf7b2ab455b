"""The attention function that is examined: what it can be asked for, and with which arrays."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, cast

import numpy as np

from companion.arrays import is_torch, namespace
from companion.conformance._outputs import (
    as_library,
    differ,
    fail_at_shape,
    plain_numbers,
)
from companion.contracts import contract

KEYWORDS: dict[str, str] = {
    "attn_mask": "mask attention_mask src_mask",
    "attn_bias": "bias attention_bias",
    "dropout_p": "dropout dropout_rate attn_dropout p_dropout p",
    "is_causal": "causal use_causal_mask",
    "scale": "softmax_scale sm_scale scaling scale_factor",
    "enable_gqa": "",
    "softcap": "soft_cap logits_soft_cap attn_logits_soft_cap logit_softcapping",
    "sinks": "sink s_aux attention_sinks",
    "offset": "q_offset query_offset start_pos",
    "window": "sliding_window",
    "left": "window_left",
    "window_size": "local_window_size",
    "need_weights": "return_weights return_attention_weights return_attention_scores "
    "return_attn_weights return_attn_probs output_attentions",
    "need_lse": "return_lse return_softmax_lse",
}
"""What the kit knows, and how JAX, flash-attn, Keras, xformers and others call it.

`attn_bias` takes numbers only. A window of w positions is a `window` of w, a `left` of w - 1 or a
`window_size` of (w - 1, 0).
"""

WINDOWS = ("window", "left", "window_size")
CORE = ("attn_mask", "dropout_p", "is_causal", "scale")
"""What no function may take and ignore; the first three in torch's order."""

DTYPES = ("float16", "bfloat16", "float32", "float64")
CRASHES = (AttributeError, LookupError, NameError, ZeroDivisionError)
"""Errors that are no refusal: somebody mistyped."""


class NotOfferedError(Exception):
    """What a check asks for is nothing that the function offers; the message is the reason."""


class RefusedError(NotOfferedError):
    """The function answers a call by an error; the message is what it says."""


@dataclass(frozen=True)
class Subject:
    """An attention function, called as PyTorch's `scaled_dot_product_attention`.

    Attributes:
        function: `function(query, key, value, ...)`.
        like: array of the library, the dtype and on the device that it is called with.
        names: its own name for each keyword of the kit; what its signature leaves open is added
            when it has been tried.
        neutral: what its arguments get that have no default, or one that switches something on.
        unknown: arguments that mean nothing to the kit.
        layout: order of the axes of query, key, value and output.
        order: places of query, key and value.
        placed: keywords that are handed over by place.
        is_open: it has `*args` or `**kwargs`, or no signature at all.
        found: what the checks have found so far.
    """

    function: Callable[..., Any]
    like: Any
    names: dict[str, str]
    neutral: Mapping[str, Any]
    unknown: tuple[str, ...]
    layout: str
    order: tuple[int, ...]
    placed: tuple[str, ...]
    is_open: bool
    found: dict[str, Any] = field(default_factory=dict, compare=False)
    absent: dict[str, str] = field(default_factory=dict, compare=False)

    def __call__(
        self, query: Any, key: Any, value: Any, **options: Any
    ) -> Any:
        """Call the function with copies; return the output, and what else was asked for.

        Raises:
            NotOfferedError: it does not take a keyword.
            RefusedError: it stopped with an error, other than one of a mistyped line.
        """
        self.needs(*options)
        given = [_copied(x, self.layout) for x in (query, key, value)]
        named = dict(self._named(*one) for one in options.items())
        results = self._answer(given, named)
        output = output_of(results)
        if self.layout == "bnhd" and output.ndim == 4:
            output = _copied(output, self.layout)
        fail_at_shape(output, (*query.shape[:-1], value.shape[-1]))
        asked = options.get("need_weights") or options.get("need_lse")
        return (
            (output, *results[1:])
            if asked and results is not output
            else output
        )

    def plainly(self, *given: Any) -> Any:
        """Call it without keywords and without copies; return all that it gives."""
        return self._answer(list(given), {})

    def _answer(self, given: list[Any], named: dict[str, Any]) -> Any:
        """Call it; a mask (q, k) that stops it is tried with all axes, too."""
        try:
            return self._call(given, named)
        except Exception:
            masks = {
                name: what[None, None]
                for name, what in named.items()
                if getattr(what, "ndim", 0) == 2
            }
            if not masks:
                raise
        return self._call(given, named | masks)

    def _call(self, given: list[Any], named: Mapping[str, Any]) -> Any:
        named = {**self.neutral, **named}
        if named.get("scale", 0.0) is inspect.Parameter.empty:
            named["scale"] = given[0].shape[-1] ** -0.5
        used = [i for i, name in enumerate(self.placed, 1) if name in named]
        placed = self.placed[: max(used, default=0)]
        more = [named.pop(name, _neutral(name)) for name in placed]
        rows = [given[i] for i in self.order]
        try:
            return self.function(*rows, *more, **named)
        except CRASHES:
            raise
        except Exception as error:
            told = f"{type(error).__name__}: {error}".strip().splitlines()
            raise RefusedError(told[0][:160]) from error

    def _named(self, keyword: str, what: Any) -> tuple[str, Any]:
        """Return its own name for a keyword, and its own form of what comes with it."""
        numbers = keyword == "attn_bias" or (
            keyword == "attn_mask" and what.dtype != namespace(what).bool
        )
        if numbers:
            keyword = self.first_of("attn_bias", "attn_mask")
        elif keyword == "window":
            keyword = self.first_of(*WINDOWS)
            left = what - 1
            what = {"window": what, "left": left}.get(keyword, (left, 0))
        return self.names[keyword], what

    def offers(self, keyword: str) -> bool:
        """Say whether it takes a keyword: by its signature, or because it took it when tried."""
        if keyword == "window":
            return any(map(self._takes, WINDOWS))
        if keyword == "attn_bias" and not self._takes(keyword):
            return self._takes("attn_mask") and not self._reads_flags()
        return self._takes(keyword)

    def needs(self, *keywords: str) -> None:
        """Ask for keywords.

        Raises:
            NotOfferedError: it lacks one.
        """
        for keyword in keywords:
            if not self.offers(keyword):
                reason = f"its signature has no `{keyword}`"
                raise NotOfferedError(self.absent.get(keyword, reason))

    def first_of(self, *keywords: str) -> str:
        """Return the first of these keywords that is offered.

        Raises:
            NotOfferedError: none is.
        """
        for keyword in keywords:
            if self._takes(keyword):
                return keyword
        raise NotOfferedError(
            f"its signature has none of {', '.join(f'`{name}`' for name in keywords)}"
        )

    def _takes(self, keyword: str) -> bool:
        if keyword in self.names:
            return True
        if self.is_open and keyword not in self.absent:
            self.absent[keyword] = self._tried(keyword)
        return keyword in self.names

    def _reads_flags(self) -> bool:
        """Say whether numbers in a `mask` are booleans to it, which is usual under such names."""
        name = self.names["attn_mask"]
        if name != "attn_mask" and "numbers" not in self.absent:
            given, flags = self._rows(), _SAMPLES["attn_mask"]
            try:
                first, second = (
                    self(*given, attn_mask=as_library(self.like, mask))
                    for mask in (flags, 1.5 * flags)
                )
            except Exception:
                return False
            same = not differ(plain_numbers(first), plain_numbers(second))
            told = f"numbers are booleans to its `{name}`" if same else ""
            self.absent["numbers"] = self.absent["attn_bias"] = told
        return bool(self.absent.get("numbers"))

    def _rows(self) -> list[Any]:
        rows = np.random.default_rng(0).normal(size=(3, 1, 4, 4, 8))
        return [as_library(self.like, row) for row in rows]

    def _tried(self, keyword: str) -> str:
        """Hand a keyword to a function that may take any, and look whether something happens."""
        given, without = self._rows(), dict[str, Any]()
        grouped = keyword == "enable_gqa"
        if grouped:
            given[1:] = [x[:, :2] for x in given[1:]]
        if keyword == "offset" and self._takes("is_causal"):
            without[self.names["is_causal"]] = True
        sample, swallowed = as_library(self.like, _SAMPLES[keyword]), ""
        for name in (keyword, *KEYWORDS[keyword].split()):
            try:
                after = self._call(given, without | {name: sample})
                before = None if grouped else self._call(given, without)
                same = type(after) is type(before) and not differ(
                    *(plain_numbers(output_of(x)) for x in (before, after))
                )
            except Exception:
                continue
            swallowed = swallowed or name
            if not same:
                self.names[keyword] = name
                return ""
        if swallowed and keyword in CORE:
            self.names[keyword] = swallowed
        told = "it takes any keyword and ignores" if swallowed else "it does not take"  # fmt: skip
        return f"{told} `{keyword}`"


_SAMPLES: dict[str, Any] = {
    "attn_mask": np.tri(4, dtype=bool), "attn_bias": np.eye(4), "dropout_p": 0.5,
    "is_causal": True, "scale": 0.1, "enable_gqa": True, "softcap": 0.1, "sinks": np.ones(4),
    "offset": 1, "window": 2, "left": 1, "window_size": (1, 0), "need_weights": True,
    "need_lse": True,
}  # fmt: skip


def output_of(results: Any) -> Any:
    """Return the output of results, which may be one array or several."""
    return results[0] if isinstance(results, tuple | list) else results


def _copied(x: Any, layout: str) -> Any:
    """Return a contiguous copy, heads and positions exchanged where the layout is another."""
    if layout == "bnhd":
        x = namespace(x).permute_dims(x, (0, 2, 1, 3))
    if is_torch(x):
        import torch

        return x.clone(memory_format=torch.contiguous_format)
    return x.copy()


def _neutral(keyword: str) -> Any:
    """Return what asks for nothing."""
    if keyword in ("is_causal", "enable_gqa", "need_weights", "need_lse"):
        return False
    return {"dropout_p": 0.0, "offset": 0}.get(keyword)


@contract()
def subject(
    function: Callable[..., Any], *, arrays: Literal["numpy", "torch"] | None = None,
    dtype: Literal["float32", "float64"] = "float32", device: str = "cpu",
    names: Mapping[str, str] | None = None, layout: Literal["bhnd", "bnhd"] = "bhnd",
) -> Subject:  # fmt: skip
    """Prepare a function to be examined.

    Args:
        function: `function(query, key, value, ...)` from (b, h, q, d), (b, g, k, d), (b, g, k, v)
            to (b, h, q, v); a module is switched to `.eval()`, and a class is called first.
        arrays: None means torch if something has imported it.
        dtype: half precision is tried in any case.
        device: of torch's tensors.
        names: what its arguments mean, as {"my_mask": "attn_mask"}; many are guessed.
        layout: "bnhd" if positions stand before the heads.

    Raises:
        ValueError: a name that its signature or the kit does not have.
        TypeError: a class that needs arguments.

    >>> from companion.attention import scaled_dot_product_attention
    >>> asked = subject(scaled_dot_product_attention, arrays="numpy")
    >>> asked.offers("sinks"), asked.offers("window")
    (True, False)
    """
    arrays = arrays or ("torch" if "torch" in sys.modules else "numpy")
    library = import_module(arrays)
    on = {"device": device} if arrays == "torch" else {}
    if isinstance(function, type):
        function = cast(Callable[..., Any], function())
    if hasattr(function, "eval") and hasattr(function, "train"):
        function.eval()
    like = library.ones(1, dtype=getattr(library, dtype), **on)
    return _read(function, like, dict(names or {}), layout)


def _read(
    function: Any, like: Any, given: dict[str, str], layout: str
) -> Subject:
    everything = _parameters(function)
    open_ended = {one.kind for one in everything} & _OPEN
    parameters = [one for one in everything if one.kind not in _OPEN]
    named = {one.name: one for one in parameters[3:]}
    for theirs, ours in given.items():
        for name, known in ((ours, KEYWORDS), (theirs, named)):
            if name not in known and not (open_ended and known is named):
                raise ValueError(
                    f"names: got {theirs}={ours}, wanted THEIRS=OURS, {name} one of "
                    f"{', '.join(known)}"
                )
    meaning = {
        theirs: ours
        for ours, others in KEYWORDS.items()
        for theirs in (ours, *others.split())
    } | given
    names: dict[str, str] = {ours: theirs for theirs, ours in given.items()}
    unknown, neutral = [], dict[str, Any]()
    for name, one in named.items():
        ours = meaning.get(name, "")
        if not ours or names.setdefault(ours, name) != name:
            unknown.append(name)
        if one.default is one.empty:
            neutral[name] = one.empty if ours == "scale" else _neutral(ours)
        elif one.default and _neutral(ours) in (False, 0.0):
            neutral[name] = _neutral(ours)
    placed = [
        name for name, one in named.items() if one.kind is one.POSITIONAL_ONLY
    ]
    if open_ended == {inspect.Parameter.VAR_POSITIONAL}:
        placed = list(CORE[:3])
    initials = "".join(
        one.name.lstrip("_")[:1].lower() for one in parameters[:3]
    )
    usual = sorted(initials) != ["k", "q", "v"]
    order = (0, 1, 2) if usual else tuple(map("qkv".index, initials))
    return Subject(
        function, like, names, neutral, tuple(unknown), layout, order, tuple(placed),
        bool(open_ended),
    )  # fmt: skip


_OPEN = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def _parameters(function: Any) -> list[inspect.Parameter]:
    """Return its parameters, those of a module's `forward`, or of what TorchScript has made."""
    inner = getattr(function, "_orig_mod", function)
    inner = getattr(inner, "forward", inner)
    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    if hasattr(inner, "schema"):
        return [
            inspect.Parameter(
                one.name, either,
                default=one.default_value if one.has_default_value() else inspect.Parameter.empty,
            )
            for one in inner.schema.arguments if one.name != "self"
        ]  # fmt: skip
    try:
        return list(inspect.signature(inner).parameters.values())
    except ValueError:  # PyTorch's own is written in C++.
        rows = [inspect.Parameter(name, either) for name in "qkv"]
        more = inspect.Parameter("more", inspect.Parameter.VAR_KEYWORD)
        return [*rows, more]


def in_dtype(like: Any, dtype: str) -> Any:
    """Return an array as another one, in another dtype of the same library.

    Raises:
        NotOfferedError: the library has no such dtype.

    >>> in_dtype(np.ones(1), "float16").dtype
    dtype('float16')
    """
    xp = namespace(like)
    if not hasattr(xp, dtype):
        raise NotOfferedError(f"its arrays have no {dtype}")
    return xp.astype(like, getattr(xp, dtype))
