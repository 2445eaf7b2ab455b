"""The study of smaller caches: rows, heads that share, and what a cache of fixed size sees."""

from __future__ import annotations

from functools import partial

import pytest
import torch

from companion.attention import scaled_dot_product_attention
from companion.models.transformer import LanguageModel
from companion.positions import rotate
from experiments.kv_heads import study as kv_heads

pytestmark = pytest.mark.slow


def test_rows_begin_with_the_mark_and_go_on_with_the_text() -> None:
    text = torch.arange(10, 17)
    rows = kv_heads.rows_of(text, 4, torch.tensor([0, 5]), bos_id=1)
    assert rows.tolist() == [[1, 10, 11, 12, 13], [1, 15, 16, 10, 11]]


def test_streaming_attention_is_attention_to_what_a_cache_holds() -> None:
    """One query at a time, with the keys of a cache at their places in it."""
    for recent, kept in [(5, 0), (4, 1), (3, 2), (9, 3)]:
        generator = torch.Generator().manual_seed(5)
        n, d = 13, 8
        draw = partial(torch.randn, generator=generator, dtype=torch.float64)
        query, key, value = draw(1, 4, n, d), draw(1, 2, n, d), draw(1, 2, n, d)
        places = torch.arange(n)
        found = kv_heads.streaming_attention(
            rotate(query, places), rotate(key, places), value, recent=recent, kept=kept
        )
        for i in range(n):
            held = [j for j in range(i + 1) if j < kept or i - j < recent]
            cached = rotate(key[:, :, held], torch.arange(len(held)))
            one = rotate(query[:, :, i : i + 1], torch.tensor([len(held) - 1]))
            wanted = scaled_dot_product_attention(one, cached, value[:, :, held], enable_gqa=True)
            torch.testing.assert_close(found[:, :, i : i + 1], wanted)


@torch.no_grad()
def test_the_loss_is_that_of_the_last_words() -> None:
    class Certain(LanguageModel):
        def __init__(self) -> None:
            torch.nn.Module.__init__(self)

        def __call__(self, tokens: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
            """Say that every word follows itself."""
            return 50.0 * torch.nn.functional.one_hot(tokens, 5).double()

    rows = torch.tensor([[0, 1, 2, 2, 2], [3, 1, 4, 4, 4]])
    assert kv_heads.loss_at_the_end(Certain(), rows, 2) == pytest.approx(0)
    assert kv_heads.loss_at_the_end(Certain(), rows, 3) == pytest.approx(50 / 3)
