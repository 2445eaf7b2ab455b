"""Attention you can touch: drawings with controls, as HTML without a framework or a network."""

from companion.plot.live.output import LiveOutput, pack
from companion.plot.live.softmax import softmax_explorer
from companion.plot.live.tiles import online_softmax_steps

__all__ = ["LiveOutput", "online_softmax_steps", "pack", "softmax_explorer"]
