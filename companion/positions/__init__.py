"""Where is a word? Encodings added, rotations of queries and keys, and biases on the scores."""

from companion.positions.alibi import alibi_bias, alibi_slopes
from companion.positions.buckets import relative_buckets
from companion.positions.rotary import rotary_frequencies, rotate
from companion.positions.scaling import (
    Dynamic,
    Linear,
    Llama3,
    RotaryScaling,
    Yarn,
)
from companion.positions.sinusoidal import sinusoidal_encoding

__all__ = [
    "Dynamic", "Linear", "Llama3", "RotaryScaling", "Yarn", "alibi_bias", "alibi_slopes",
    "relative_buckets", "rotary_frequencies", "rotate", "sinusoidal_encoding",
]  # fmt: skip
