"""Batches of pictures, and the digits."""

import numpy as np
import torch

from bookkit.data.captions import collate_scenes, scene_vocabulary
from bookkit.data.digits import handwritten_digits
from bookkit.data.scenes import scenes
from companion.data.images import LabelledImages, ShuffledBatches

SCENES = scenes(7, seed=2)
VOCAB = scene_vocabulary()


def test_a_batch_holds_the_pictures_and_the_captions() -> None:
    batch = collate_scenes(SCENES, VOCAB)
    for row, scene in enumerate(SCENES):
        pixels = batch.images[row].permute(1, 2, 0) * 255
        assert np.array_equal(pixels.round().byte().numpy(), scene.image)
        real = batch.target_mask[row]
        assert int(real.sum()) == len(scene.words) + 1
        assert VOCAB.decode(batch.target_out[row].tolist()) == scene.words
        assert batch.target_out[row][real][-1] == VOCAB.eos_id
        assert batch.target_in[row, 0] == VOCAB.bos_id
        assert batch.target_in[row][real][1:].tolist() == VOCAB.encode(scene.words)
        assert set(batch.target_in[row][~real].tolist()) <= {VOCAB.pad_id}
    assert len({len(scene.words) for scene in SCENES}) == 2


ROWS = LabelledImages(torch.zeros(11, 1, 2, 2), torch.arange(11))


def test_an_epoch_has_every_row_once_and_an_order_of_its_own() -> None:
    batches = ShuffledBatches(ROWS, batch_size=4, seed=5)
    assert batches.per_epoch == 3
    epochs = [torch.cat([batches[step].labels for step in range(e, e + 3)]) for e in (0, 3)]
    assert [sorted(epoch.tolist()) for epoch in epochs] == 2 * [list(range(11))]
    assert epochs[0].tolist() != epochs[1].tolist()
    same, other = (ShuffledBatches(ROWS, batch_size=4, seed=seed)[4].labels for seed in (5, 6))
    assert torch.equal(same, batches[4].labels)
    assert other.tolist() != same.tolist()
    rows = collate_scenes(SCENES, VOCAB)
    batch = ShuffledBatches(rows, batch_size=3, seed=1)[1]
    for image, words in zip(batch.images, batch.target_out, strict=True):
        same_image = [i for i in range(7) if torch.equal(rows.images[i], image)]
        assert any(torch.equal(rows.target_out[i], words) for i in same_image)


def test_the_digits_are_divided_always_alike() -> None:
    learn, test = handwritten_digits()
    again, _ = handwritten_digits()
    assert torch.equal(learn.labels, again.labels)
    assert (len(learn.images), len(test.images)) == (1297, 500)
    assert float(learn.images.min()) == 0
    assert float(learn.images.max()) == 1
    rows = torch.cat((learn.images, test.images)).flatten(1).tolist()
    assert len(set(map(tuple, rows))) == 1797  # every digit once: none is in both parts
    counts = torch.bincount(test.labels, minlength=10)
    assert counts.min() > 35
