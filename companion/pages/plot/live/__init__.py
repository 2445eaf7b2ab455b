"""Attention you can touch: drawings with controls, as HTML without a framework or a network."""

from companion.pages.plot.live.angles import rotary_angles
from companion.pages.plot.live.heads import head_viewer
from companion.pages.plot.live.output import LiveOutput, pack
from companion.pages.plot.live.painted import paint_mask
from companion.pages.plot.live.softmax import softmax_explorer
from companion.pages.plot.live.tiles import online_softmax_steps

__all__ = [
    "LiveOutput",
    "head_viewer",
    "online_softmax_steps",
    "pack",
    "paint_mask",
    "rotary_angles",
    "softmax_explorer",
]
