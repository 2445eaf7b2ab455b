"""Handwritten digits of 8 x 8 pixels, from scikit-learn."""

import numpy as np
import torch

from companion.data.images import LabelledImages

TEST_SIZE = 500
_SEED = 20_001  # of the one division that all use


def handwritten_digits() -> tuple[LabelledImages, LabelledImages]:
    """Read the 1797 digits that come with scikit-learn, and divide them, always alike.

    They are the test part of a collection by Alpaydin and Kaynak (1998), reduced to 8 x 8 pixels
    of 17 greys. The division is by chance: both parts may hold digits of one writer.

    Returns:
        1297 digits to learn from and 500 to test on: images (n, 1, 8, 8) from 0 to 1.

    >>> learn, test = handwritten_digits()
    >>> learn.images.shape, len(test.labels)
    (torch.Size([1297, 1, 8, 8]), 500)
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = torch.from_numpy(digits.images).float()[:, None] / 16
    labels = torch.from_numpy(digits.target).long()
    order = torch.from_numpy(np.random.default_rng(_SEED).permutation(len(labels)))
    test, learn = order[:TEST_SIZE], order[TEST_SIZE:]
    one, other = (LabelledImages(images[which], labels[which]) for which in (learn, test))
    return one, other
