"""Attention you can touch: drawings with controls, as HTML without a framework or a network."""
