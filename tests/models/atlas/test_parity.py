"""Every architecture of the atlas equals its reference, with the same weights."""

import pytest

from experiments.atlas.check import check
from experiments.atlas.rows import ROWS, Row
from tests.tiers import often

EQUAL = 1e-5  # largest difference of logits between 0.2 and 7, in float32


FIRST = (
    "llama", "gpt_oss", "deepseek_v4", "qwen3_next", "kimi_linear", "mamba2", "minimax", "lfm2",
)  # fmt: skip
"""One for each way to keep a text; the others are compared in the long run of tests."""


rows = pytest.mark.parametrize(
    "row", often(ROWS, lambda row: row.name in FIRST), ids=[row.name for row in ROWS]
)


@rows
def test_an_architecture_equals_its_reference(row: Row) -> None:
    outcome = check(row)
    assert outcome.size > 0.1, "logits near 0 would hide a difference"
    assert outcome.difference < EQUAL
    assert outcome.leak < EQUAL
    assert outcome.cached < EQUAL
    assert outcome.bytes == outcome.reference_bytes
    assert outcome.held_bytes <= outcome.bytes  # our convolutions keep one input fewer
