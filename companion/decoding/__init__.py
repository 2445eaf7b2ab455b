"""Writing a sequence one token at a time, over a `step` that knows no model."""

import companion.needs_torch  # noqa: F401
from companion.decoding.beams import beam, length_factor
from companion.decoding.sequences import Decoded, Reorder, State, Step
from companion.decoding.speculative import (
    Score,
    Speculated,
    overlap,
    remainder,
    speculate,
    verify,
)
from companion.decoding.stepwise import greedy, sample
from companion.decoding.streaming import Kept, stream_text, stream_tokens
from companion.decoding.truncation import keep_min_p, keep_top_k, keep_top_p

__all__ = [
    "Decoded", "Kept", "Reorder", "Score", "Speculated", "State", "Step", "beam", "greedy",
    "keep_min_p", "keep_top_k", "keep_top_p", "length_factor", "overlap", "remainder", "sample",
    "speculate", "stream_text", "stream_tokens", "verify",
]  # fmt: skip
