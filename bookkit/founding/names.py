"""The names of TensorFlow that the founding notebook's attention uses, lent to PyTorch's functions.

Each function takes the arguments that TensorFlow's takes, as far as the notebook gives them, and
computes the same.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


class _Activations:
    """What `tf.nn` has."""

    @staticmethod
    def tanh(x: Tensor) -> Tensor:
        """Return the hyperbolic tangent."""
        return torch.tanh(x)

    @staticmethod
    def softmax(logits: Tensor, axis: int = -1) -> Tensor:
        """Return the softmax over an axis, by default the last."""
        return torch.softmax(logits, dim=axis)


class tf:  # noqa: N801  (the name under which the notebook imports it)
    """What the notebook calls as `tf`.

    >>> tf.reduce_sum(torch.ones(2, 3), axis=1)
    tensor([3., 3.])
    """

    nn = _Activations

    @staticmethod
    def tensordot(a: Tensor, b: Tensor, axes: tuple[int, int] | list[int]) -> Tensor:
        """Sum the products over one axis of each tensor."""
        first, second = axes
        summed: Tensor = torch.tensordot(a, b, dims=([first], [second]))
        return summed

    @staticmethod
    def reduce_sum(x: Tensor, axis: int) -> Tensor:
        """Sum over an axis."""
        return x.sum(dim=axis)

    @staticmethod
    def where(condition: Tensor, x: Tensor, y: float) -> Tensor:
        """Take x where a condition is true, and y elsewhere."""
        return torch.where(condition, x, y)

    @staticmethod
    def fill(dims: Sequence[int], value: int) -> Tensor:
        """Return a tensor of some shape, filled with a value."""
        return torch.full(list(dims), value)

    @staticmethod
    def concat(values: Sequence[Tensor], axis: int) -> Tensor:
        """Put tensors one behind the other along an axis."""
        return torch.cat(list(values), dim=axis)
