"""The Vision Transformer: its patches against torch, and what goes through the encoder."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from companion.data.images import LabelledImages
from companion.models.vision import VisionConfig, VisionTransformer, to_patches

CONFIG = VisionConfig(image_size=6, patch_size=3, channels=2, num_classes=5, embed_dim=12,
                      num_heads=3, num_layers=2, hidden_dim=7)  # fmt: skip


def make_vit(**changes: Any) -> VisionTransformer:
    torch.manual_seed(8)
    return VisionTransformer(replace(CONFIG, **changes)).double().eval()


def test_patches_are_torchs_unfolded_windows() -> None:
    images = torch.rand(2, 3, 8, 12)
    wanted = nn.functional.unfold(images, 4, stride=4).mT
    assert torch.equal(to_patches(images, 4), wanted)


def test_a_class_token_goes_through_the_encoder_with_the_patches() -> None:
    model, images = make_vit(), torch.rand(3, 2, 6, 6).double()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    patches = model.embed(to_patches(images, 3))
    assert model.places is not None
    x = torch.cat((model.class_token.expand(3, 1, -1), patches), 1) + model.places
    wanted = model.output(model.encoder(x).hidden[:, 0])
    found = model(images, need_weights=True)
    torch.testing.assert_close(found.logits, wanted)
    torch.testing.assert_close(model(images).logits, wanted)
    assert [w.shape for w in found.weights] == [(3, 3, 5, 5)] * 2


def test_patches_know_their_places() -> None:
    image = torch.rand(1, 2, 6, 6).double()
    halves = torch.cat((image[..., 3:], image[..., :3]), -1)  # the same patches elsewhere
    known, unknown = make_vit(), make_vit(positions="none")
    assert (known(image).logits - known(halves).logits).abs().max() > 1e-4
    torch.testing.assert_close(unknown(image).logits, unknown(halves).logits)


def test_a_picture_without_a_patch_is_a_shorter_sentence() -> None:
    model, images = make_vit(), torch.rand(3, 2, 6, 6).double()
    kept = torch.tensor([[True, False, True, True]]).expand(3, -1)
    assert model.places is not None
    patches = model.embed(to_patches(images, 3))
    x = torch.cat((model.class_token.expand(3, 1, -1), patches), 1) + model.places
    wanted = model.output(model.encoder(x[:, [0, 1, 3, 4]]).hidden[:, 0])
    torch.testing.assert_close(model(images, kept=kept).logits, wanted)


def test_the_loss_is_the_mean_over_pictures() -> None:
    model = make_vit()
    batch = LabelledImages(torch.rand(4, 2, 6, 6).double(), torch.tensor([0, 4, 2, 2]))
    log_probs = model(batch.images).logits.log_softmax(-1)
    rows = [-log_probs[row, label] for row, label in enumerate(batch.labels.tolist())]
    torch.testing.assert_close(model.loss(batch), sum(rows) / 4)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="patch_size: got 4, wanted a divisor of image_size, 6"):
        replace(CONFIG, patch_size=4)
    with pytest.raises(ValueError, match=r"images: got shape \(1, 1, 6, 7\)"):
        to_patches(torch.zeros(1, 1, 6, 7), 2)
