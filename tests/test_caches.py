"""Blocks and eight bits: what comes back is what a plain cache gives, exactly or to half a step."""

from typing import Any

import pytest
import torch
from torch import Tensor

from companion.cache import BlockPool, EightBitCache, KVCache, PagedCache
from companion.models.transformer import LanguageModel, TransformerConfig

G, D, N = 2, 6, 19
Cache = Any  # layers take whatever has the positions of a KVCache


def draw(n: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    key, value = torch.randn(2, 1, G, n, D, generator=generator)
    return key, value


def paged(block_size: int, blocks: int = 24) -> PagedCache:
    return PagedCache(BlockPool(blocks, block_size, G, D))


def filled(cache: Cache, sizes: list[int]) -> tuple[Tensor, Tensor]:
    """Return what the last update gave, for pieces of these sizes."""
    key, value = draw(sum(sizes))
    start = 0
    for size in sizes:
        piece = slice(start, start + size)
        seen: tuple[Tensor, Tensor] = cache.update(key[:, :, piece], value[:, :, piece])
        start += size
    return seen


def test_blocks_give_back_every_bit() -> None:
    for block_size in [1, 3, 4, 32]:
        for sizes in [[N], [1] * N, [4, 1, 8, 6], [3, 16]]:
            cache = paged(block_size)
            found, wanted = filled(cache, sizes), filled(KVCache(1, G, N, D), sizes)
            assert all(
                torch.equal(mine, theirs) for mine, theirs in zip(found, wanted, strict=True)
            )
            assert len(cache.table) == -(-N // block_size)
            assert cache.pool.free == 24 - len(cache.table)


def test_sequences_that_take_turns_do_not_meet() -> None:
    pool = BlockPool(12, 3, G, D)
    texts = [PagedCache(pool), PagedCache(pool)]
    drawn = [draw(8, seed) for seed in (1, 2)]
    for i in range(8):
        seen = [
            text.update(key[:, :, i : i + 1], value[:, :, i : i + 1])
            for text, (key, value) in zip(texts, drawn, strict=True)
        ]
    for (keys, values), (key, value) in zip(seen, drawn, strict=True):
        assert torch.equal(keys, key)
        assert torch.equal(values, value)
    assert texts[0].table == [0, 2, 4]  # the blocks of one text do not lie side by side
    assert texts[1].table == [1, 3, 5]


def test_a_fork_shares_full_blocks_and_goes_its_own_way() -> None:
    for length in [6, 7]:
        first = paged(3)
        key, value = draw(length)
        first.update(key, value)
        second = first.fork()
        rest = length % 3
        assert first.pool.free == 24 - 2 - 2 * (rest > 0)
        assert second.table[:2] == first.table[:2]
        others = [draw(2, seed) for seed in (5, 6)]
        for text, (more_key, more_value) in zip((first, second), others, strict=True):
            keys, values = text.update(more_key, more_value)
            assert torch.equal(keys, torch.cat((key, more_key), 2))
            assert torch.equal(values, torch.cat((value, more_value), 2))
        first.release()
        keys, _ = second.update(*draw(1, 7))
        assert torch.equal(keys[:, :, :length], key)
        second.release()
        assert first.pool.free == 24
        assert (second.length, second.table) == (0, [])


def test_a_pool_can_run_out() -> None:
    cache = paged(2, blocks=2)
    cache.update(*draw(4))
    other = paged(2, blocks=2)
    for full, tokens, wanted in ((cache, 1, 1), (other, 5, 3)):
        before = full.length, full.pool.free
        with pytest.raises(ValueError, match=f"got {before[1]} free blocks, wanted {wanted} for"):
            full.update(*draw(tokens))
        assert (full.length, full.pool.free) == before


def test_eight_bits_are_off_by_half_a_step_at_most() -> None:
    for sizes in [[N], [1] * N, [4, 1, 8, 6]]:
        found, wanted = filled(EightBitCache(1, G, N, D), sizes), draw(N)
        for mine, theirs in zip(found, wanted, strict=True):
            step = theirs.abs().amax(-1, keepdim=True) / 127
            assert ((mine - theirs).abs() <= step / 2 + 1e-6).all()
            assert (mine != theirs).float().mean() > 0.5


def test_eight_bits_keep_the_digits_of_small_half_precision_and_refuse_what_they_cannot() -> None:
    cache = EightBitCache(1, 1, 4, 2, dtype=torch.float16)
    small = torch.tensor([[[[1e-4, -5e-5]]]], dtype=torch.float16)
    for stored in cache.update(small, small):
        torch.testing.assert_close(stored, small, rtol=0.0, atol=5e-7)
    with pytest.raises(ValueError, match="got inf or nan"):
        cache.update(small, small / 0)
    assert cache.length == 1


def test_eight_bits_take_a_byte_a_number_and_a_scale_a_vector() -> None:
    vectors = 2 * 3 * G * 10
    assert EightBitCache(3, G, 10, 64).nbytes == vectors * (64 + 4)


def test_no_more_tokens_than_there_is_room() -> None:
    cache = EightBitCache(1, G, 4, D)
    cache.update(*draw(3))
    with pytest.raises(ValueError, match="got 2 tokens after 3, wanted at most 4"):
        cache.update(*draw(2))
    assert cache.length == 3


def test_a_model_decodes_with_either() -> None:
    torch.manual_seed(0)
    config = TransformerConfig(
        11, embed_dim=4 * D, num_heads=4, num_kv_heads=G, num_layers=2, hidden_dim=8,
        positions="rotary", dropout_p=0.0,
    )  # fmt: skip
    model = LanguageModel(config).eval()
    tokens = torch.randint(11, (1, 9))
    with torch.no_grad():
        wanted = model.decoder(model.embedding(tokens)).hidden
        for make, off in ((lambda: paged(4), 1e-5), (lambda: EightBitCache(1, G, 9, D), 0.05)):
            caches: Cache = [make() for _ in range(2)]
            pieces = [
                model.decoder(model.embedding(tokens[:, a:b], offset=a), caches=caches).hidden
                for a, b in ((0, 5), (5, 6), (6, 9))
            ]
            assert (torch.cat(pieces, 1) - wanted).abs().max() < off
