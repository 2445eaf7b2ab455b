"""TensorFlow's names compute what NumPy computes with the same arguments."""

from __future__ import annotations

import numpy as np
import torch
from torch.testing import assert_close

from bookkit.founding import tf

X = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))
W = torch.randn(5, 7, generator=torch.Generator().manual_seed(1))


def test_products_are_summed_over_the_axes_that_are_named() -> None:
    found = tf.tensordot(X, W, axes=[2, 0])
    assert_close(found, torch.from_numpy(np.tensordot(X.numpy(), W.numpy(), axes=([2], [0]))))


def test_axes_are_tensorflows() -> None:
    assert_close(tf.reduce_sum(X, axis=1), torch.from_numpy(X.numpy().sum(axis=1)))
    assert_close(tf.nn.softmax(X, axis=1).sum(1), torch.ones(2, 5))
    assert_close(tf.nn.softmax(X).sum(-1), torch.ones(2, 3))
    assert_close(tf.nn.tanh(X), torch.from_numpy(np.tanh(X.numpy())))


def test_tensors_are_filled_chosen_and_joined() -> None:
    filled = tf.fill([2, 3], 4)
    assert filled.tolist() == [[4, 4, 4]] * 2
    chosen = tf.where(filled > torch.tensor([3, 5, 3]), filled.float(), -1.0)
    assert chosen.tolist() == [[4, -1, 4]] * 2
    assert tf.concat([filled, filled[:, :1]], axis=1).shape == (2, 4)
