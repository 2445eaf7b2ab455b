"""Attention as layers with weights to learn, and the feed-forward layer that stands beside it."""

import companion.needs_torch  # noqa: F401
from companion.layers.additive import AdditiveAttention
from companion.layers.attended import Attended
from companion.layers.feed_forward import FeedForward
from companion.layers.luong import LuongAttention
from companion.layers.memory import MemoryAttention
from companion.layers.multi_head import MultiHeadAttention, ProjectedMemory

__all__ = [
    "AdditiveAttention", "Attended", "FeedForward", "LuongAttention", "MemoryAttention",
    "MultiHeadAttention", "ProjectedMemory",
]  # fmt: skip
