"""Attention you can touch: drawings with controls, as HTML without a framework or a network."""

from companion.plot.live.output import LiveOutput, pack

__all__ = ["LiveOutput", "pack"]
