"""Scenes and their captions as batches for a model."""

from collections.abc import Sequence

import numpy as np
import torch

from bookkit.data.scenes import VOCABULARY, Scene
from companion.contracts import contract
from companion.data.batching import padded_targets
from companion.data.images import CaptionBatch
from companion.data.vocabulary import Vocabulary


def scene_vocabulary() -> Vocabulary:
    """Return the words of all captions.

    >>> "orange" in scene_vocabulary()
    True
    """
    return Vocabulary(VOCABULARY)


@contract()
def collate_scenes(scenes: Sequence[Scene], vocab: Vocabulary) -> CaptionBatch:
    """Turn scenes into one batch, in the order given.

    Raises:
        ValueError: there is no scene.

    >>> from bookkit.data.scenes import scenes
    >>> collate_scenes(scenes(2, seed=1), scene_vocabulary()).images.shape
    torch.Size([2, 3, 32, 32])
    """
    if not scenes:
        raise ValueError("scenes: got none, wanted at least one")
    pixels = torch.from_numpy(np.stack([scene.image for scene in scenes]))
    return CaptionBatch(
        pixels.permute(0, 3, 1, 2).float() / 255,
        *padded_targets([vocab.encode(scene.words) for scene in scenes], vocab),
    )
