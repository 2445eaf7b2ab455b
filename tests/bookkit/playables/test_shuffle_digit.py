"""The shuffled digit, in Node: what its readers compute is what the package computes."""

import pytest
import torch
from torch import Tensor

from bookkit.data.digits import handwritten_digits
from bookkit.figures import shuffle_digit
from bookkit.playables.digits import LEVELS
from bookkit.playables.playable import Playable
from bookkit.playables.weights import quantize, restore
from companion.models.vision import VisionConfig, VisionTransformer
from tests.bookkit.playables.node import ask

PICTURES = handwritten_digits()[1].images[:3]
MOVED = [5, 1, 2, 3, 4, 0, 6, 7, 15, 9, 10, 11, 12, 13, 14, 8]


def rounded(positions: str, seed: int) -> VisionTransformer:
    """A random model whose weights are those that a letter can say, so that nothing is lost."""
    torch.manual_seed(seed)
    model = VisionTransformer(VisionConfig(embed_dim=8, positions=positions)).double()  # type: ignore[arg-type]
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.6)
            levels, scale = quantize(weight.reshape(-1, weight.shape[-1]).float(), LEVELS)
            scale = torch.tensor([float(f"{one:.5g}") for one in scale], dtype=torch.float64)
            weight.copy_(restore(levels, scale).reshape(weight.shape))
    return model.eval()


@pytest.fixture(scope="module")
def models() -> tuple[VisionTransformer, VisionTransformer]:
    return rounded("learned", 1), rounded("none", 2)


@pytest.fixture(scope="module")
def shown(models: tuple[VisionTransformer, VisionTransformer]) -> Playable:
    named = [(str(number), one[0]) for number, one in enumerate(PICTURES)]
    return shuffle_digit(*models, named, still=[70, 73, 27, 83])


def arranged(image: Tensor, order: list[int]) -> Tensor:
    """The picture whose patches stand in another order."""
    patches = image[0].unfold(0, 2, 2).unfold(1, 2, 2).reshape(16, 2, 2)[order]
    return patches.view(4, 4, 2, 2).transpose(1, 2).reshape(1, 1, 8, 8).double()


def test_both_readers_compute_what_the_package_computes(
    models: tuple[VisionTransformer, VisionTransformer], shown: Playable
) -> None:
    ink = [(16 * one).round().int().flatten().tolist() for one in PICTURES]
    states = [
        {"ink": ink[number], "order": order, "covered": covered}
        for number, order, covered in (
            (0, [*range(16)], []), (1, MOVED, []), (2, [*range(16)], [5, 6, 9, 10]),
            (1, MOVED, [0, 15, 3, 7]),
        )
    ]  # fmt: skip
    for number, state, found in zip((0, 1, 2, 1), states, ask(shown, *states), strict=True):
        kept = torch.tensor([[place not in state["covered"] for place in range(16)]])
        for model, chances in zip(models, found["readers"], strict=True):
            with torch.no_grad():
                wanted = model(arranged(PICTURES[number], state["order"]), kept=kept).logits
            assert chances == pytest.approx(wanted.softmax(-1)[0].tolist(), abs=1e-5)


def test_a_bag_of_patches_does_not_see_that_they_are_shuffled(shown: Playable) -> None:
    one, other = ask(shown, {}, {"order": MOVED})
    assert one["readers"][0] != pytest.approx(other["readers"][0], abs=1e-3)
    assert one["readers"][1] == pytest.approx(other["readers"][1], abs=1e-12)


def test_each_rule_takes_its_four_patches(
    models: tuple[VisionTransformer, VisionTransformer], shown: Playable
) -> None:
    (found,) = ask(shown, {"task": 1, "covered": [2]})
    image, model = PICTURES[:1].double(), models[0]
    with torch.no_grad():
        logits, weights = model(image, need_weights=True)
        looked = weights[-1].mean(1)[0, 0, 1:]
        inked = image[0, 0].unfold(0, 2, 2).unfold(1, 2, 2).square().sum((-1, -2)).flatten()
        alone = ~torch.eye(16, dtype=torch.bool)
        left = model(image.expand(16, -1, -1, -1), kept=alone).logits.softmax(-1)
        missed = -left[:, logits[0].argmax()]
    for one, ranks in zip(found["fours"], (looked, inked, missed), strict=True):
        assert set(one["four"]) == set(ranks.topk(4).indices.tolist())
        kept = torch.tensor([[place not in one["four"] for place in range(16)]])
        with torch.no_grad():
            wanted = model(image, kept=kept).logits.softmax(-1)[0]
        assert one["chances"] == pytest.approx(wanted.tolist(), abs=1e-5)


def test_readers_that_are_exchanged_are_refused(
    models: tuple[VisionTransformer, VisionTransformer],
) -> None:
    with pytest.raises(ValueError, match="places: got a model with positions 'none'"):
        shuffle_digit(models[1], models[0], [], still=[])
