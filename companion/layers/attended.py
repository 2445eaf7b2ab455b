"""What an attention layer returns where its weights are wanted, too."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Attended(NamedTuple):
    """The output of an attention layer, and the weights that made it.

    Attributes:
        output: what the layer returns without `need_weights`.
        weights: before dropout, one row a query: (b, h, q, k) of a layer with heads, else
            (b, q, k).
    """

    output: Tensor
    weights: Tensor
