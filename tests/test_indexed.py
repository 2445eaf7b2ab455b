"""The indexer, its choice of keys and of blocks, against loops; the atlas has its makers."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from companion import indexed
from companion.masks import causal_mask
from tests.oracle import Float, as_numpy, assert_matches, draw, softmax

B, H, D = 2, 3, 5
LENGTHS = [(1, 1), (1, 13), (13, 13), (6, 17), (17, 6)]
BLOCKS = [(0, 3), (1, 3), (3, 3), (7, 3), (12, 4), (13, 1), (5, 7)]


def test_scores_are_the_weighted_sum(libraries: list[Any]) -> None:
    for xp, (q, k), scale in product(libraries, LENGTHS, [None, 0.3]):
        for weighted in [True, False]:
            query, key = draw(B, H, q, D), draw(B, k, D)
            weight = draw(B, H, q) if weighted else np.ones((B, H, q))
            factor = (H * D) ** -0.5 if scale is None else scale
            expected = np.zeros((B, q, k))
            for b, i, j in np.ndindex(B, q, k):
                products = [math.fsum(query[b, h, i] * key[b, j]) for h in range(H)]
                expected[b, i, j] = factor * math.fsum(
                    weight[b, h, i] * max(products[h], 0.0) for h in range(H)
                )
            given = xp.asarray(weight) if weighted else None
            found = indexed.indexer_scores(xp.asarray(query), xp.asarray(key), given, scale=scale)
            assert_matches(found, expected)


def test_a_number_that_is_none_is_not_hidden() -> None:
    query, key = draw(H, 2, D), draw(7, D)
    key[3, 0] = math.nan
    scores = indexed.indexer_scores(query, key)
    assert np.isnan(scores[:, 3]).all()
    assert not np.isnan(np.delete(scores, 3, -1)).any()


def best_by_loops(scores: Float, count: int, mask: Any) -> Any:
    """Sort the allowed keys of each row by score, then by position."""
    chosen = np.zeros(scores.shape, bool)
    mask = np.broadcast_to(mask, scores.shape)
    for row in np.ndindex(*scores.shape[:-1]):
        keys = [j for j in range(scores.shape[-1]) if mask[row][j] and scores[row][j] > -math.inf]
        for j in sorted(keys, key=lambda j: (-scores[row][j], j))[:count]:
            chosen[(*row, j)] = True
    return chosen


def test_top_keys_are_the_best(libraries: list[Any]) -> None:
    for xp, (q, k), count in product(libraries, LENGTHS, [1, 2, 5, 12, 17, 99]):
        scores = draw(B, q, k)
        scores[draw(B, q, k, seed=1) > 1] = -math.inf
        allowed = draw(q, k, seed=2) > -0.5
        for mask in (np.True_, allowed, draw(B, q, k, seed=3) > 0):
            given = None if mask is np.True_ else xp.asarray(mask)
            chosen = as_numpy(indexed.top_keys(xp.asarray(scores), count, given))
            assert chosen.dtype == bool
            assert np.array_equal(chosen, best_by_loops(scores, count, mask))
        added = np.where(allowed, 0.0, -math.inf)
        chosen = as_numpy(indexed.top_keys(xp.asarray(scores), count, xp.asarray(added)))
        assert np.array_equal(chosen, best_by_loops(scores, count, allowed))


def test_of_equal_scores_the_earlier_key_comes_first(libraries: list[Any]) -> None:
    for xp, dtype in product(libraries, ["float32", "float64"]):
        scores = np.round(draw(B, 31, 97)).clip(0.0)  # most of them are ReLU's zero
        for count in (1, 7, 50):
            chosen = as_numpy(indexed.top_keys(xp.asarray(scores, dtype=getattr(xp, dtype)), count))
            assert np.array_equal(chosen, best_by_loops(scores, count, True))
            assert (chosen.sum(-1) == count).all()


def divergence_by_loops(weights: Float, scores: Float, mask: Any) -> Float:
    heads = weights.shape[1]
    result = np.zeros(scores.shape[:-1])
    mask = np.broadcast_to(mask, scores.shape)
    for b, i in np.ndindex(*result.shape):
        keys = [j for j in range(scores.shape[-1]) if mask[b, i, j]]
        sums = [math.fsum(weights[b, h, i, j] for h in range(heads)) for j in keys]
        shares, _ = softmax([float(scores[b, i, j]) for j in keys]) if keys else ([], 0.0)
        total = math.fsum(sums)
        result[b, i] = math.fsum(
            part / total * math.log(part / total / share)
            for part, share in zip(sums, shares, strict=True)
            if part > 0
        )
    return result


def test_divergence_is_that_of_two_distributions(libraries: list[Any]) -> None:
    for xp, (q, k) in product(libraries, LENGTHS):
        weights, scores = draw(B, H, q, k) ** 2, draw(B, q, k, seed=1)
        weights[..., ::3] = 0.0
        sums = weights.sum(1)
        for mask in (np.ones((q, k), bool), draw(q, k, seed=2) > 0, draw(B, q, k, seed=3) > 0):
            expected = divergence_by_loops(weights, scores, mask)
            arrays = xp.asarray(weights), xp.asarray(scores), xp.asarray(mask)
            found = as_numpy(indexed.indexer_divergence(*arrays))
            reached = np.where(mask, sums, 0).sum(-1) > 0
            assert_matches(np.where(reached, found, 0), np.where(reached, expected, 0))
            assert not found[~reached].any()
            assert (found >= -1e-12).all()


def test_the_gradient_of_the_divergence_is_softmax_less_target(torch: Any) -> None:
    weights, mask = torch.tensor(draw(B, H, 7, 11) ** 2), torch.tensor(draw(7, 11, seed=1) > -0.5)
    mask[3] = False
    scores = torch.tensor(draw(B, 7, 11, seed=2), requires_grad=True)
    indexed.indexer_divergence(weights, scores, mask).sum().backward()
    target = weights.sum(1) * mask
    share = scores.detach().masked_fill(~mask, -math.inf).softmax(-1)
    expected = share - target / target.sum(-1, keepdim=True)
    assert_matches(scores.grad, as_numpy(expected.masked_fill(~mask | ~mask.any(-1)[:, None], 0.0)))


def test_pooled_keys_are_weighted_means(libraries: list[Any]) -> None:
    for xp, (k, size), overlap in product(libraries, BLOCKS, [False, True]):
        for gated in [False, True]:
            width = 6
            key, gate = draw(B, k, width), draw(B, k, width, seed=1) * gated
            half = width // 2 * overlap
            expected = np.zeros((B, k // size, width - half))
            for b, block, channel in np.ndindex(*expected.shape):
                own = range(block * size, (block + 1) * size)
                pairs = [(j, channel + half) for j in own]
                if overlap and block:
                    pairs += [(j - size, channel) for j in own]
                shares, _ = softmax([float(gate[b, j, c]) for j, c in pairs])
                expected[b, block, channel] = math.fsum(
                    share * key[b, j, c] for share, (j, c) in zip(shares, pairs, strict=True)
                )
            given = xp.asarray(gate) if gated else None
            found = indexed.pool_blocks(xp.asarray(key), given, size=size, overlap=overlap)
            assert_matches(found, expected)


def test_maxima_complete_blocks_and_their_keys(libraries: list[Any]) -> None:
    for xp, (k, size) in product(libraries, BLOCKS):
        scores, mask = draw(B, 4, k), draw(B, 4, k, seed=1) > -1
        count = math.ceil(k / size)
        best, complete = np.zeros((B, 4, count)), np.zeros((B, 4, k // size), bool)
        for b, i, m in np.ndindex(*best.shape):
            best[b, i, m] = max(scores[b, i, m * size : (m + 1) * size])
        for b, i, m in np.ndindex(*complete.shape):
            complete[b, i, m] = all(mask[b, i, m * size : (m + 1) * size])
        assert_matches(indexed.block_maxima(xp.asarray(scores), size), best)
        assert np.array_equal(as_numpy(indexed.complete_blocks(xp.asarray(mask), size)), complete)
        keys = as_numpy(indexed.keys_of_blocks(xp.asarray(complete), k, size))
        assert keys.shape == (B, 4, k)
        for b, i, j in np.ndindex(*keys.shape):
            assert keys[b, i, j] == (j // size < k // size and complete[b, i, j // size])


def test_keys_of_top_blocks(libraries: list[Any]) -> None:
    sizes = [(1, 3), (2, 3), (1, 5), (9, 2)]
    for xp, (q, k), (count, size) in product(libraries, LENGTHS, sizes):
        scores, offset = np.round(2 * draw(B, q, k // size)).clip(0.0), max(k - q, 0)
        mask = causal_mask(q, k, offset=offset, like=xp.asarray(scores))
        found = as_numpy(indexed.keys_of_top_blocks(xp.asarray(scores), count, mask, size))
        for b, i in np.ndindex(B, q):
            seen = min(i + offset + 1, k)
            best = sorted(range(seen // size), key=lambda m: (-scores[b, i, m], m))[:count]
            keys = {j for m in best for j in range(m * size, (m + 1) * size)}
            tail = set(range(seen // size * size, seen))
            assert set(np.flatnonzero(found[b, i]).tolist()) == keys | tail


def test_scores_for_other_blocks_are_refused() -> None:
    message = r"^scores: got m = 3, wanted 2, the complete blocks of mask$"
    with pytest.raises(ValueError, match=message):
        indexed.keys_of_top_blocks(np.ones((4, 3)), 1, np.ones((4, 5), bool), 2)


MANY = 11
"""Heads of a reference's indexer: so many that no key meets ReLU's zero in all, where ties are."""


def test_qwens_indexer_makes_the_same_choice(torch: Any) -> None:
    pytest.importorskip("transformers")
    from transformers.models.qwen4_exp.configuration_qwen4_exp import Qwen4ExpTextConfig
    from transformers.models.qwen4_exp.modeling_qwen4_exp import Qwen4ExpTextQSAIndexer

    torch.manual_seed(0)
    config = Qwen4ExpTextConfig(
        hidden_size=10, head_dim=8, indexer_n_heads=MANY, indexer_kv_heads=1, indexer_head_dim=8,
        indexer_budget=9, indexer_compress_ratio=3,
    )  # fmt: skip
    indexer = Qwen4ExpTextQSAIndexer(config, 0)
    torch.nn.init.normal_(indexer.k_layernorm.weight)
    x, length = torch.randn(B, 23, 10), 23
    still = torch.ones(B, length, 8), torch.zeros(B, length, 8)  # positions that rotate nothing
    mask = torch.full((B, 1, length, length), -math.inf).triu(1)
    expected = indexer(x, still, mask, None)

    query, key = indexer.index_qk_proj(x).split([MANY * 8, 8], -1)
    query = indexer.q_layernorm(query.unflatten(-1, (MANY, 8))).transpose(1, 2)
    pooled = indexer.k_layernorm(indexed.pool_blocks(key, size=3))
    causal = causal_mask(length, like=x).expand(B, -1, -1)
    found = indexed.keys_of_top_blocks(indexed.indexer_scores(query, pooled), 3, causal, 3)
    assert torch.equal(found, expected[:, 0] & causal)
    assert (found.sum(-1) <= 9 + 2).all()


def test_glms_indexer_makes_the_same_choice(torch: Any) -> None:
    pytest.importorskip("transformers")
    from transformers.models.glm5_next.configuration_glm5_next import Glm5NextTextConfig
    from transformers.models.glm5_next.modeling_glm5_next import Glm5NextTextIndexer

    torch.manual_seed(0)
    config = Glm5NextTextConfig(
        hidden_size=10, q_lora_rank=6, index_n_heads=MANY, index_head_dim=7, index_topk=6,
        index_kpool=3,
    )  # fmt: skip
    indexer, length = Glm5NextTextIndexer(config, 0), 23
    for weight in indexer.parameters():
        torch.nn.init.normal_(weight)
    x, compressed = torch.randn(B, length, 10), torch.randn(B, length, 6)
    expected = indexer(x, compressed, torch.ones(B, length, dtype=torch.bool), None)

    query = indexer.wq_b(compressed).unflatten(-1, (MANY, 7)).transpose(1, 2)
    gate = x @ indexer.index_kpool_compress_gate.mT
    gate = gate + indexer.index_kpool_compress_ape.repeat(8, 1)[:length]
    pooled = indexed.pool_blocks(indexer.k_norm(indexer.wk(x)), gate, size=3)
    scores = indexed.indexer_scores(query, pooled, indexer.weights_proj(x).mT)
    found = indexed.keys_of_top_blocks(scores, 2, causal_mask(length, like=x).expand(B, -1, -1), 3)
    indices = expected.long() % (length + 1)  # -1, for nothing, becomes a key after the last
    chosen = torch.zeros(B, length, length + 1, dtype=torch.bool).scatter(-1, indices, True)
    assert torch.equal(found, chosen[..., :length])
