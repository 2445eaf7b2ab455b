"""Words put into a captioner's mouth, in Node: what it computes is what the package computes."""

from typing import Any

import pytest
import torch

from bookkit.data.captions import scene_vocabulary
from bookkit.data.scenes import COLOURS, SHAPES, scenes
from bookkit.figures import put_words
from bookkit.playables.weights import quantize, restore
from companion.models.vision import Captioner, CaptionerConfig
from tests.bookkit.playables.node import ask

VOCAB = scene_vocabulary()


def rounded() -> Captioner:
    """A random captioner whose weights are those that eight bits can say, so nothing is lost."""
    torch.manual_seed(4)
    model = Captioner(CaptionerConfig(len(VOCAB), channels=6, embed_dim=5, hidden_dim=7)).double()
    with torch.no_grad():
        for weight in model.parameters():
            rows = weight.reshape((1, -1) if weight.ndim == 1 else (len(weight), -1))
            levels, scale = quantize((1.5 * rows).float())
            weight.copy_(restore(levels, scale.double()).reshape(weight.shape))
        model.output.bias[VOCAB.eos_id] = -9.0  # or its captions would be short
        levels, scale = quantize(model.output.bias[None].float())
        model.output.bias.copy_(restore(levels, scale.double())[0])
    return model.eval()


def test_the_module_looks_and_writes_as_the_package_does() -> None:
    model = rounded()
    shown = put_words(model)
    one = {"colour": 3, "shape": 2, "x": 9, "y": 7}
    states: list[dict[str, Any]] = [{}, {"said": [None, 6]}, {"one": one, "said": [4, 9, None, 12]}]
    for state, found in zip(states, ask(shown, *states), strict=True):
        pixels = torch.tensor(found["pixels"], dtype=torch.float64) / 255
        image = pixels.reshape(32, 32, 3).permute(2, 0, 1)[None]
        ids = VOCAB.encode(found["words"])
        with torch.no_grad():
            wanted = model(image, torch.tensor([[VOCAB.bos_id, *ids[:-1]]]))
        for name, parts in (("rows", wanted.weights), ("chances", wanted.logits.softmax(-1))):
            got = torch.tensor(found[name], dtype=torch.float64)
            torch.testing.assert_close(got, parts[0], atol=1e-6, rtol=0)
        said = dict(enumerate(state.get("said", [])))
        best = wanted.logits[0].argmax(-1).tolist()
        assert ids == [said.get(at) or best[at] for at in range(len(ids))]
        assert len(ids) == 8


def test_the_picture_is_one_that_training_could_have_drawn_and_its_caption_is_right() -> None:
    model = rounded()
    told = 0
    for scene in scenes(60, seed=3, combinations="all"):
        boxes = {
            word: scene.boxes[at][0]
            for at, word in ((2, "first"), (len(scene.words) - 1, "second"))
        }
        if any(box.right - box.left != 11 for box in boxes.values()):
            continue
        told += 1
        at = [(box.left + 5, box.top + 5) for box in boxes.values()]
        pairs = ((*scene.words[1:3],), (*scene.words[-2:],))
        for order in (1, -1):
            shown = put_words(model, first=pairs[::order], at=tuple(at[::order]))  # type: ignore[arg-type]
            (found,) = ask(shown)
            assert found["right"]["words"] == list(scene.words)
            pixels = torch.tensor(found["pixels"]).reshape(32, 32, 3)
            ground = torch.tensor(scene.image[0, 0]).eq(torch.tensor(scene.image)).all(-1)
            assert torch.equal(pixels.eq(232).all(-1), ground)
    assert told > 5


def test_words_of_its_kind_are_offered_and_a_wish_is_kept() -> None:
    model = rounded()
    words = VOCAB.tokens
    for wish, kind in (("green", list(COLOURS)), ("cross", list(SHAPES)), ("left", None)):
        state = {"said": [None, None, words.index(wish)], "word": 2}
        (found,) = ask(put_words(model), state)
        assert found["words"][2] == wish
        offered = [one["word"] for one in found["options"]]
        assert offered == (kind or ["a", "an", "above", "left", "of"])
        chances = [found["chances"][2][words.index(one)] for one in offered]
        assert [one["chance"] for one in found["options"]] == pytest.approx(chances)
        (told,) = ask(put_words(model), state, want="said")
        assert f"“{wish}” is your word" in told
