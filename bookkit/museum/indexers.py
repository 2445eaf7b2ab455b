"""An indexer chooses the keys that a query attends to: which of equal ones, and how it turns.

The score of a key for a query is a sum over the indexer's heads of ReLU(query . key), each head
with a weight of its own. Attention then runs over the k keys with the largest scores.
"""

from functools import partial

import torch
from torch import Tensor

from bookkit.museum.exhibit import Exhibit, Variant, normal_numbers
from companion.attention import scaled_dot_product_attention
from companion.conformance import check_agree, check_prefixes
from companion.masks import causal_mask
from companion.positions import rotate

CHOSEN, WIDTH = 8, 8
LENGTH = 40


def index_scores(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """Score keys (b, k, d) for queries (b, h, q, d) with a weight a head, (h,): (b, q, k)."""
    products = torch.relu(query @ key[:, None].mT)
    return (weight[:, None, None] * products).sum(1)


def indexer(x: Tensor) -> Tensor:
    """Score the positions of a text x (b, n, e) by an indexer of one head, causally, (b, n, n)."""
    width = x.shape[-1]
    query = x @ normal_numbers(width, WIDTH, seed=5)
    key = x @ normal_numbers(width, WIDTH, seed=6)
    scores = index_scores(query[:, None], key, torch.ones(1, dtype=x.dtype))
    return scores.masked_fill(~causal_mask(x.shape[1], like=x), -torch.inf)


def attend_to(x: Tensor, chosen: Tensor) -> Tensor:
    """Attend to the positions whose numbers stand in `chosen`, (b, n, k), as far as they may."""
    n = x.shape[1]
    picked = torch.zeros(len(x), n, n, dtype=torch.bool).scatter(
        -1, chosen, True
    )
    return scaled_dot_product_attention(x, x, x, picked, is_causal=True)


def any_of_equals(x: Tensor) -> Tensor:
    """Attend to the k best: among equal scores topk takes whom it likes."""
    scores = indexer(x)
    chosen = scores.topk(min(CHOSEN, x.shape[1]), -1).indices
    return attend_to(x, chosen)


def first_of_equals(x: Tensor) -> Tensor:
    """Attend to the k best: among equal scores the first."""
    order = indexer(x).sort(dim=-1, descending=True, stable=True).indices
    return attend_to(x, order[..., :CHOSEN])


def check_longer(attend: Variant) -> None:
    """Check that a longer text leaves the outputs of its beginning as they were."""
    check_prefixes(attend, normal_numbers(2, LENGTH, 16, seed=7))


def turned_in_halves(query: Tensor, key: Tensor, k: int = CHOSEN) -> Tensor:
    """Choose keys by an indexer that turns halves; its weights were trained with neighbours."""
    positions = torch.arange(query.shape[-2])
    query, key = rotate(query, positions), rotate(key, positions)
    return chosen_by(query, key, k)


def turned_in_pairs(query: Tensor, key: Tensor, k: int = CHOSEN) -> Tensor:
    """Choose keys by an indexer that turns neighbours, as its weights were trained."""
    positions = torch.arange(query.shape[-2])
    turn = partial(rotate, positions=positions, interleaved=True)
    return chosen_by(turn(query), turn(key), k)


def chosen_by(query: Tensor, key: Tensor, k: int) -> Tensor:
    """Say which k keys the last query (b, h, n, d) of a text chooses, in their order: (b, k)."""
    scores = index_scores(
        query[:, :, -1:], key, torch.ones(query.shape[1], dtype=query.dtype)
    )
    order = scores[:, 0].sort(dim=-1, descending=True, stable=True).indices
    return order[:, :k].sort(dim=-1).values


def a_text_for_the_indexer(n: int = LENGTH) -> tuple[Tensor, Tensor]:
    """Return queries of four heads (1, 4, n, d) and keys (1, n, d)."""
    query, key = (1, 4, n, WIDTH), (1, n, WIDTH)
    return normal_numbers(*query, seed=8), normal_numbers(*key, seed=9)


def by_the_authors(query: Tensor, key: Tensor) -> Tensor:
    """Choose keys as the authors' code does: a pair of neighbours is a complex number."""
    positions = torch.arange(query.shape[-2], dtype=query.dtype)
    exponents = torch.arange(0, WIDTH, 2, dtype=query.dtype) / WIDTH
    angles = positions[:, None] / 10_000**exponents
    turn = torch.polar(torch.ones_like(angles), angles)

    def turned(x: Tensor) -> Tensor:
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * turn).flatten(-2)

    return chosen_by(turned(query), turned(key), CHOSEN)


INDEXERS = (
    Exhibit(
        "ties", "A text whose beginning changes when it grows", broken=any_of_equals,
        sound=first_of_equals, check=check_longer, hint="a choice among equal scores",
        threads=("sgl-project/sglang #31115", "vllm-project/vllm #56749", "jundot/omlx #2243"),
    ),
    Exhibit(
        "the indexer's layout",
        "An indexer that turns other pairs than its weights were trained with",
        broken=turned_in_halves, sound=turned_in_pairs,
        check=lambda choose: check_agree(by_the_authors, choose, *a_text_for_the_indexer()),
        hint="the two differ",
        threads=("1bit-MONSTER/1bit-MONSTER #2418", "huggingface/transformers #46842",
            "ml-explore/mlx-lm #512"),
    ),
)  # fmt: skip
