"""The attention function that is examined: what it can be asked for, and with which arrays."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from companion.arrays import namespace
from companion.contracts import contract

TORCH_KEYWORDS = frozenset(
    {"attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa"}
)
"""What a function without a signature is taken to offer: PyTorch's own is written in C++."""

DTYPES = ("float16", "bfloat16", "float32", "float64")


class NotOfferedError(Exception):
    """What a check asks for is nothing that the function offers; the message is the reason."""


@dataclass(frozen=True)
class Subject:
    """An attention function, called as PyTorch's `scaled_dot_product_attention`.

    Attributes:
        function: `function(query, key, value, ...)`.
        offers: the keywords that it takes.
        like: array of the library, the dtype and on the device that it is called with.
    """

    function: Callable[..., Any]
    offers: frozenset[str]
    like: Any

    def __call__(
        self, query: Any, key: Any, value: Any, **options: Any
    ) -> Any:
        """Call the function.

        Raises:
            NotOfferedError: a keyword that its signature does not have.
        """
        self.needs(*options)
        return self.function(query, key, value, **options)

    def needs(self, *keywords: str) -> None:
        """Ask for keywords.

        Raises:
            NotOfferedError: the signature lacks one.
        """
        for keyword in keywords:
            if keyword not in self.offers:
                raise NotOfferedError(f"its signature has no `{keyword}`")

    def first_of(self, *keywords: str) -> str:
        """Return the first of these keywords that is offered.

        Raises:
            NotOfferedError: none is.
        """
        for keyword in keywords:
            if keyword in self.offers:
                return keyword
        raise NotOfferedError(
            f"its signature has none of {', '.join(f'`{name}`' for name in keywords)}"
        )


@contract()
def subject(
    function: Callable[..., Any], *, arrays: Literal["numpy", "torch"] | None = None,
    dtype: Literal["float32", "float64"] = "float32", device: str = "cpu",
) -> Subject:  # fmt: skip
    """Prepare a function to be examined.

    Args:
        function: `function(query, key, value, ...)` from (b, h, q, d), (b, g, k, d), (b, g, k, v)
            to (b, h, q, v).
        arrays: None means torch if something has imported it.
        dtype: half precision is tried in any case.
        device: of torch's tensors.

    >>> from companion.attention import scaled_dot_product_attention
    >>> sorted(subject(scaled_dot_product_attention, arrays="numpy").offers)[:3]
    ['attn_mask', 'dropout_p', 'enable_gqa']
    """
    arrays = arrays or ("torch" if "torch" in sys.modules else "numpy")
    library = import_module(arrays)
    on = {"device": device} if arrays == "torch" else {}
    return Subject(
        function,
        offers(function),
        library.ones(1, dtype=getattr(library, dtype), **on),
    )


def offers(function: Callable[..., Any]) -> frozenset[str]:
    """Return the keywords of a function beside query, key and value.

    >>> sorted(offers(lambda query, key, value, sinks=None: query))
    ['sinks']
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:
        return TORCH_KEYWORDS
    kinds = inspect.Parameter
    named = kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY
    return frozenset(one.name for one in parameters[3:] if one.kind in named)


def in_dtype(like: Any, dtype: str) -> Any:
    """Return an array as another one, in another dtype of the same library.

    Raises:
        NotOfferedError: the library has no such dtype.

    >>> import numpy as np
    >>> in_dtype(np.ones(1), "float16").dtype
    dtype('float16')
    """
    xp = namespace(like)
    if not hasattr(xp, dtype):
        raise NotOfferedError(f"its arrays have no {dtype}")
    return xp.astype(like, getattr(xp, dtype))
