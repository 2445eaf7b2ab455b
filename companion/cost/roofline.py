"""The roofline: how fast a processor can be at best, given how much it computes for each byte."""

from __future__ import annotations

from typing import NamedTuple

import torch

from companion.contracts import contract
from companion.cost.size import array_bytes, kv_cache_bytes
from companion.cost.timing import cpu_seconds
from companion.cost.transformer import count_flops, count_parameters
from companion.models.transformer import TransformerConfig


class Roofline(NamedTuple):
    """Two bounds of a processor (Williams et al., 2009).

    Attributes:
        flops: operations a second, at most.
        bandwidth: bytes a second between processor and memory, at most.

    >>> roof = Roofline(flops=100e9, bandwidth=10e9)
    >>> roof.ridge, roof.attainable(0.5) / 1e9, roof.attainable(64) / 1e9
    (10.0, 5.0, 100.0)
    """

    flops: float
    bandwidth: float

    @property
    def ridge(self) -> float:
        """Operations a byte from which on arithmetic is the bound, and below it memory."""
        return self.flops / self.bandwidth

    def attainable(self, intensity: float) -> float:
        """Return the operations a second that are possible at most.

        Args:
            intensity: operations for each byte that is moved.
        """
        return min(self.flops, intensity * self.bandwidth)

    def seconds(self, flops: float, moved: float) -> float:
        """Return the least time: of the arithmetic or of the memory, whichever takes longer.

        Args:
            flops: operations.
            moved: bytes.
        """
        return max(flops / self.flops, moved / self.bandwidth)


@contract(size=">= 1", megabytes=">= 1", rounds=">= 1")
def measure_roofline(
    *, size: int = 1024, megabytes: int = 192, rounds: int = 5
) -> Roofline:
    """Measure both bounds on the CPU, in torch's default dtype: the best of some rounds.

    Operations are those of a product of two square matrices. Bytes are those of a sum of one array
    and a multiple of another that is written to a third, the triad of McCalpin (1995); two are read
    and one is written. The time is CPU time, of as many threads as torch uses: set one.

    Args:
        size: rows of the matrices.
        megabytes: of the three arrays together; more than the caches hold, or it is their
            bandwidth that is measured.
        rounds: how often.

    >>> roof = measure_roofline(size=64, megabytes=3, rounds=1)
    >>> roof.flops > 0, roof.bandwidth > 0
    (True, True)
    """
    matrix = torch.ones(size, size)
    length = megabytes * 2**20 // (3 * matrix.itemsize)
    first, second, third = (torch.ones(length) for _ in range(3))
    with torch.no_grad():
        seconds = cpu_seconds(
            {
                "product": lambda: matrix @ matrix,
                "triad": lambda: torch.add(first, second, alpha=3, out=third),
            },
            rounds=rounds,
        )
    moved = array_bytes(3, length, dtype=matrix.dtype)
    flops = 2 * size**3 / min(seconds["product"])
    return Roofline(flops, moved / min(seconds["triad"]))


class StepCost(NamedTuple):
    """What a language model does to write one token of every sequence.

    Attributes:
        flops: operations of its matrix products.
        weights: bytes of the weights, which are read a single time for all sequences.
        cache: bytes of the keys and values of all sequences, each of which reads its own.
    """

    flops: int
    weights: int
    cache: int

    @property
    def moved(self) -> int:
        """Bytes of weights and caches together."""
        return self.weights + self.cache

    @property
    def intensity(self) -> float:
        """Operations a byte."""
        return self.flops / self.moved


@contract(cached=">= 0", batch_size=">= 1")
def step_cost(
    config: TransformerConfig,
    *,
    cached: int,
    batch_size: int = 1,
    dtype: torch.dtype | None = None,
) -> StepCost:
    """Count a step of `LanguageModel` (Pope et al., 2023): operations, and bytes that it must read.

    Every weight is read a single time, but of tables that are looked up no more than rows, which
    are left out; a tied embedding is read whole to score the words. So are activations left out.

    Args:
        config: the model's shape.
        cached: tokens of a sequence before the one that is read.
        batch_size: sequences.
        dtype: of weights and caches; None means torch's default.

    >>> config = TransformerConfig(vocab_size=11, embed_dim=12, num_heads=3)
    >>> step_cost(config, cached=4, dtype=torch.float32)
    StepCost(flops=7656, weights=15312, cache=960)
    >>> step_cost(config, cached=4, batch_size=8, dtype=torch.float32).weights
    15312
    """
    flops = count_flops(
        config,
        "language_model",
        length=1,
        cached=cached,
        batch_size=batch_size,
    ).total
    parameters = count_parameters(config, "language_model")
    numbers = parameters.total - parameters.embedding
    if config.positions == "relative":
        numbers -= config.relative_buckets * config.num_heads
    if config.tied != "none":
        numbers += config.vocab_size * config.embed_dim
    cache = kv_cache_bytes(
        batch_size,
        config.groups,
        cached + 1,
        config.width_of_head,
        num_layers=config.num_layers,
        dtype=dtype,
    )
    return StepCost(flops, array_bytes(numbers, dtype=dtype), cache)
