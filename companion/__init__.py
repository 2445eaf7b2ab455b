"""Attention mechanisms, defined once, tested and measured.

Every name resolves when it is first used: `import companion` loads no array library, and who works
with NumPy never loads torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from companion.attention import attend, masked_softmax, scaled_dot_product_attention
    from companion.layers import AdditiveAttention, LuongAttention
    from companion.masks import (
        causal_mask,
        document_mask,
        padding_mask,
        prefix_mask,
        sliding_window_mask,
    )
    from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
    from companion.scores import additive_score, bilinear_score, dot_score, scaled_dot_score
    from companion.tiled import (
        merge_attention,
        online_softmax,
        tiled_attention,
        window_attention,
    )

__all__ = [
    "AdditiveAttention",
    "LuongAttention",
    "Seq2Seq",
    "Seq2SeqConfig",
    "additive_score",
    "attend",
    "bilinear_score",
    "causal_mask",
    "document_mask",
    "dot_score",
    "masked_softmax",
    "merge_attention",
    "online_softmax",
    "padding_mask",
    "prefix_mask",
    "scaled_dot_product_attention",
    "scaled_dot_score",
    "sliding_window_mask",
    "tiled_attention",
    "window_attention",
]

_MODULES = {
    "attention": ("attend", "masked_softmax", "scaled_dot_product_attention"),
    "layers": ("AdditiveAttention", "LuongAttention"),
    "masks": (
        "causal_mask",
        "document_mask",
        "padding_mask",
        "prefix_mask",
        "sliding_window_mask",
    ),
    "models.seq2seq": ("Seq2Seq", "Seq2SeqConfig"),
    "scores": ("additive_score", "bilinear_score", "dot_score", "scaled_dot_score"),
    "tiled": ("merge_attention", "online_softmax", "tiled_attention", "window_attention"),
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    for module, names in _MODULES.items():
        if name in names:
            value: object = getattr(import_module(f"companion.{module}"), name)
            globals()[name] = value  # the next look-up finds it without coming here
            return value
    raise AttributeError(f"module 'companion' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
