"""Attention that does not look: at the source, or from where it stands."""

import torch
from torch import Tensor, nn

from bookkit.museum.exhibit import Exhibit, Variant, normal_numbers, seeded
from companion.conformance import check_influence
from companion.layers import AdditiveAttention, Attended

PLACES = 16


class WeightsFromTheQuery(nn.Module):
    """Score the positions of the source by the query alone: the memory is blended, never compared.

    Args:
        query_dim: width of a query.
        memory_dim: width of an entry of the memory.
    """

    def __init__(self, query_dim: int, memory_dim: int) -> None:
        super().__init__()
        self.score = nn.Linear(query_dim, PLACES)

    def forward(self, query: Tensor, memory: Tensor) -> Tensor:
        """Return weights (b, q, k) from (b, q, query_dim) and (b, k, memory_dim)."""
        return torch.softmax(self.score(query)[..., : memory.shape[1]], -1)


class WithoutTanh(nn.Module):
    """Score by v . (W s + U h): a sum of what the query gives and what the key gives."""

    def __init__(self, query_dim: int, memory_dim: int) -> None:
        super().__init__()
        self.query_proj = nn.Linear(query_dim, 16)
        self.key_proj = nn.Linear(memory_dim, 16)
        self.vector = nn.Linear(16, 1, bias=False)

    def forward(self, query: Tensor, memory: Tensor) -> Tensor:
        """Return weights (b, q, k) from (b, q, query_dim) and (b, k, memory_dim)."""
        pairs = (
            self.query_proj(query)[:, :, None] + self.key_proj(memory)[:, None]
        )
        return torch.softmax(self.vector(pairs)[..., 0], -1)


class AdditiveWeights(nn.Module):
    """The weights of the package's additive attention, behind the same call."""

    def __init__(self, query_dim: int, memory_dim: int) -> None:
        super().__init__()
        self.attention = AdditiveAttention(query_dim, memory_dim, 16)

    def forward(self, query: Tensor, memory: Tensor) -> Tensor:
        """Return weights (b, q, k) from (b, q, query_dim) and (b, k, memory_dim)."""
        keys = self.attention.project(memory)
        attended: Attended = self.attention(
            query, keys, memory, need_weights=True
        )
        return attended.weights


def check_memory(make: Variant) -> None:
    """Check that every weight depends on every position of the source."""
    weigh, query = seeded(lambda: make(5, 8)), normal_numbers(2, 3, 5)
    every = torch.ones(3, 6, dtype=torch.bool)
    memories = normal_numbers(2, 6, 8, seed=1), normal_numbers(2, 6, 8, seed=2)
    check_influence(lambda memory: weigh(query, memory), *memories, every)


def check_query(make: Variant) -> None:
    """Check that the weights of a query depend on it, and on no other query."""
    weigh, memory = seeded(lambda: make(5, 8)), normal_numbers(2, 6, 8)
    queries = normal_numbers(2, 3, 5, seed=1), normal_numbers(2, 3, 5, seed=2)
    check_influence(lambda query: weigh(query, memory), *queries, torch.eye(3))


LOOKING = (
    Exhibit(
        "never reads", "Attention whose weights never depend on the source",
        broken=WeightsFromTheQuery, sound=AdditiveWeights, check=check_memory,
        hint="is the input read at all",
        threads=("pytorch/tutorials #1098 #130", "spro/practical-pytorch #84 #149"),
    ),
    Exhibit(
        "one column", "A map of attention that is stuck on one token", broken=WithoutTanh,
        sound=AdditiveWeights, check=check_query, hint="is the input read at all",
        threads=("bentrevett/pytorch-seq2seq #144 #90",
            "AuCson/PyTorch-Batch-Attention-Seq2seq #3"),
    ),
)  # fmt: skip
