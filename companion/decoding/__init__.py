"""Writing a sequence one token at a time, over a `step` that knows no model."""

from companion.decoding.beams import beam, length_factor
from companion.decoding.sequences import Decoded, Reorder, State, Step
from companion.decoding.stepwise import greedy, sample
from companion.decoding.truncation import keep_top_k, keep_top_p

__all__ = [
    "Decoded", "Reorder", "State", "Step", "beam", "greedy", "keep_top_k", "keep_top_p",
    "length_factor", "sample",
]  # fmt: skip
