"""Distances in buckets, each of which a model learns a bias for."""

from __future__ import annotations

import math
from itertools import count

from companion.arrays import ArrayT, cast, device_of, namespace
from companion.contracts import contract


@contract(relative_position="integers: ...")
def relative_buckets(
    relative_position: ArrayT,
    *,
    num_buckets: int = 32,
    max_distance: int = 128,
    bidirectional: bool = True,
) -> ArrayT:
    """Sort relative positions into buckets that widen with the distance (Raffel et al., 2020).

    The first half of the buckets hold one distance each; the others grow like a logarithm up to
    `max_distance`, from which on all distances share the last one.

    Args:
        relative_position: position of the key less that of the query, j - i.
        num_buckets: number of buckets, at least 4, or 2 if not bidirectional.
        max_distance: first distance that is certain to be in the last bucket.
        bidirectional: give later keys buckets of their own, the upper half; otherwise they are all
            in bucket 0, with the query's own position.

    Returns:
        (...) buckets from 0 to num_buckets - 1, int64.

    Raises:
        ValueError: too few buckets, or a max_distance that leaves none for the logarithm.

    >>> import numpy as np
    >>> relative_buckets(np.array([-128, -16, -7, 0, 7, 16, 128]))
    array([15, 10,  7,  0, 23, 26, 31])
    """
    sides = 2 if bidirectional else 1
    if num_buckets < 2 * sides:
        raise ValueError(
            f"num_buckets: got {num_buckets}, wanted at least {2 * sides}"
        )
    # Beyond the buckets that hold one distance each.
    least = num_buckets // sides // 2 + 1
    if max_distance < least:
        raise ValueError(
            f"max_distance: got {max_distance}, wanted at least {least}"
        )
    xp = namespace(relative_position)
    signed = cast(relative_position, xp.int64)
    side = num_buckets // sides
    distance = xp.abs(signed) if bidirectional else xp.clip(-signed, 0, None)
    edges = xp.asarray(
        _edges(side, max_distance), dtype=xp.int64, device=device_of(signed)
    )
    bucket = xp.searchsorted(edges, xp.reshape(distance, (-1,)), side="right")
    bucket = xp.reshape(bucket, signed.shape)
    later = bucket + side if bidirectional else bucket
    return xp.where(signed > 0, later, bucket)


def _edges(buckets: int, max_distance: int) -> list[int]:
    """Return the smallest distance of every bucket but the first.

    Bucket `exact` + i begins where log(distance / exact) reaches i / wide of its full range,
    log(max_distance / exact). The powers say it without rounding, on which whole distances at an
    edge would otherwise depend.
    """
    exact = buckets // 2
    wide = buckets - exact

    def first_distance(i: int) -> int:
        guess = math.floor(exact * (max_distance / exact) ** (i / wide))
        reached = max_distance**i * exact ** (wide - i)
        return next(
            distance for distance in count(guess) if distance**wide >= reached
        )

    return [*range(1, exact + 1), *(first_distance(i) for i in range(1, wide))]
