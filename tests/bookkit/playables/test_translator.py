"""The translator: its module computes in Node what the package does, and what a page holds."""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from book_site.play import run
from numpy.typing import NDArray
from torch import Tensor, nn

from bookkit.figures import live_translator
from bookkit.playables.translator import FILES, FOLDER
from bookkit.playables.weights import load_translator
from companion import attend
from companion.interpret import top_places
from companion.translation import Translation
from experiments.engine.settings import LIVE_TASK
from tests.bookkit.playables.node import ask

HERE = Path(__file__).parent
UNROUNDED, TRANSLATE = HERE / "translator-16-bit.safetensors", HERE / "translate.mjs"
LARGEST = 250_000  # bytes of a file that a reader's browser fetches


@cache
def sentences() -> list[tuple[list[str], list[str]]]:
    """The sentences that a page offers: English, and the grammar's Spanish."""
    lines = (FOLDER / FILES["sentences"]).read_text(encoding="utf-8").splitlines()
    return [(english.split(), spanish.split()) for english, spanish in
            (line.split("\t") for line in lines)]  # fmt: skip


def in_node(
    path: Path, english: Sequence[Sequence[str] | str], kind: str = "", share: float = 1,
    longest: int = 100,
) -> list[dict[str, Any]]:  # fmt: skip
    content = base64.b64encode(path.read_bytes()).decode("ascii")
    answers: list[dict[str, Any]] = run(TRANSLATE, [content, english, kind, share, longest])
    return answers


def farthest(found: Sequence[dict[str, Any]], wanted: Sequence[Translation]) -> float:
    """Return the largest difference of a weight, over the sentences that are the same."""
    differences = [
        np.abs(np.array(one["rows"]) - weights_of(other)).max(initial=0.0)
        for one, other in zip(found, wanted, strict=True)
        if tuple(one["written"]) == other.tokens and other.tokens
    ]
    return float(max(differences))


def weights_of(translation: Translation) -> NDArray[np.float32]:
    assert translation.weights is not None
    return np.asarray(translation.weights.numpy())


def same(found: Sequence[dict[str, Any]], wanted: Sequence[Translation]) -> float:
    """Return the share of sentences that are the same."""
    pairs = zip(found, wanted, strict=True)
    return float(np.mean([tuple(one["written"]) == other.tokens for one, other in pairs]))


def test_eight_bits_change_hardly_a_sentence_and_hardly_a_weight() -> None:
    english = [source for source, _ in sentences()]
    found = in_node(FOLDER / FILES["with"], english)
    wanted = load_translator(UNROUNDED).translate(english)
    trained = [len(words) <= LIVE_TASK.max_length for words in english]
    assert sum(trained) >= 100
    assert same(found, wanted) >= 0.99
    assert farthest(list(compress(found, trained)), list(compress(wanted, trained))) <= 2e-2
    assert farthest(found, wanted) <= 1e-1, "longer sentences than it was trained on"


@pytest.mark.parametrize("name", ["with", "without"])
def test_python_and_the_module_read_the_same_eight_bits(name: str) -> None:
    english = [source for source, _ in sentences()[::2]] + [["the", "zebra", "sleeps"]]
    found = in_node(FOLDER / FILES[name], english)
    wanted = load_translator(FOLDER / FILES[name]).translate(english)
    assert same(found, wanted) == 1
    if name == "with":
        assert farthest(found, wanted) <= 1e-5
    else:
        assert all(row is None for one in found for row in one["rows"])


def changed(weights: Tensor, kind: str, share: float) -> Tensor:
    """Return weights of attention as the page's controls change them."""
    if kind == "cut":
        top = top_places(weights)[..., None]
        left = weights.scatter(-1, top, (1 - share) * weights.gather(-1, top))
        return left / left.sum(-1, keepdim=True)
    order = weights.argsort(-1, descending=True)
    other = order.clone()
    other[..., :2] = order[..., :2].flip(-1)
    swapped = weights.scatter(-1, order, weights.gather(-1, other))
    return (1 - share) * weights + share * swapped


class Changed(nn.Module):
    """Attention whose weights are changed before the memory is blended with them."""

    def __init__(self, attention: Any, kind: str, share: float) -> None:
        super().__init__()
        self.attention, self.kind, self.share = attention, kind, share

    def project(self, memory: Tensor) -> Tensor:
        projected: Tensor = self.attention.project(memory)
        return projected

    def forward(
        self, query: Tensor, keys: Tensor, memory: Tensor, **options: Any
    ) -> tuple[Tensor, Tensor]:
        _, weights = self.attention(query, keys, memory, **options)
        weights = changed(weights, self.kind, self.share)
        return attend(weights, memory), weights


@pytest.mark.parametrize("kind", ["cut", "swap"])
@pytest.mark.parametrize("share", [0.35, 0.95])
def test_changed_weights_are_read_as_the_package_would_read_them(kind: str, share: float) -> None:
    english = [source for source, _ in sentences()[::6]]
    found = in_node(FOLDER / FILES["with"], english, kind, share)
    translator = load_translator(FOLDER / FILES["with"])
    model: Any = translator.model
    plain = translator.translate(english)
    model.attention = Changed(model.attention, kind, share)
    wanted = [translator.translate([words])[0] for words in english]
    assert same(found, wanted) == 1
    assert farthest(found, wanted) <= 1e-5
    if share > 0.5:
        assert same(found, plain) < 0.5, "the translator needs what it looks at"


def test_sentences_to_try_are_translated_with_their_weights_and_meanings() -> None:
    made = live_translator()
    first, *_, long, wrong = examples = made.data["examples"]
    assert [made.data["gloss"][word] for word in first["written"]] == [
        "she", "works", "in", "the", "house", "new",
    ]  # fmt: skip
    assert [one["right"] == one["written"] for one in examples] == [True] * 3 + [False] * 2
    assert len(long["written"]) < len(long["right"])
    assert wrong["right"] is None
    found = in_node(FOLDER / FILES["with"], [one["words"] for one in examples])
    for one, other in zip(examples, found, strict=True):
        assert one["written"] == other["written"]
        np.testing.assert_allclose(one["rows"], other["rows"], atol=1e-4)
    said = ask(made, {}, {"shown": 1}, {"shown": 0}, want="said")
    assert said[0].startswith(
        "With attention: ella trabaja en la casa nueva, which is right. In Sp"
    )
    assert said[1].startswith("ella looks most at she, 0.")
    assert said[2] == "Nothing is written yet."


def test_a_page_says_what_it_would_fetch_and_contains_none_of_it() -> None:
    files = live_translator().data["files"]
    assert files.keys() == FILES.keys()
    for name, said in files.items():
        content = (FOLDER / FILES[name]).read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        assert said == {
            "address": f"translator/{FILES[name]}?v={digest[:10]}",
            "bytes": len(content),
        }
        assert len(content) <= LARGEST
