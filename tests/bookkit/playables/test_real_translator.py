"""The translator of real sentences: Node cuts and translates as the package does."""

import random
from typing import Any

import numpy as np
import pytest
from torch import Tensor

from bookkit.data.sentences import sentences
from bookkit.figures import real_translator
from bookkit.playables.real_translator import (
    CREDIT,
    EXAMPLES,
    FILE,
    LONGEST,
    load_real_translator,
)
from bookkit.playables.weights import read_about
from companion import attend
from companion.attention import attention_with_weights
from tests.bookkit.playables.node import ask
from tests.bookkit.playables.test_translator import changed, farthest, in_node, same

STRANGE = [
    "", " ", "  two  spaces ", "\ttab\nand line", "no\u00a0break", "don't", "don’t", "“Don't!”",
    "25", "In 1984, 3.5 %", "a25b", "¿Dónde está mi libro?", "e\u0301l y él", "naïve Zürich, Łódź",
    "Zbigniew", "😀", "a😀b 👩‍👩‍👧 !", "▁", "a▁b ▁ c", "<unk> <pad>", "$5 + €3 = 8?", "日本語 text",
    "hippopotamus", "e-mail", "...", "Mr. O'Neil's", "½ cup", "x²", "\u200b", "ﬁsh",
]  # fmt: skip
ENGLISH = [
    *(sentence for sentence, _ in EXAMPLES.values()), "I am hungry.", "He is 25 years old.",
    "What did you say?", "Don't open the door!", "The children are playing in the garden.",
    "I have never been to Warsaw.", "Can you help me, please?", "It was raining all day.",
    "My brother bought a new car last week.", "Where did she put the keys?", "No.",
    "I would go if I could.", "Nobody knows.", "We ate bread, cheese and apples.", "😀!", "x",
    "This is the house that my father built.", "Tom and Mary are not here.",
]  # fmt: skip


def test_text_is_cut_into_the_same_pieces() -> None:
    _, pieces = load_real_translator()
    draw = random.Random(7)
    texts = [*STRANGE, *("".join(one).capitalize() for one in sentences()[0][:220])]
    texts += ["".join(draw.choices("abeostwyZN éñ ¿.,!'’27▁😀  \n", k=20)) for _ in range(60)]
    found = in_node(FILE, texts, longest=0)
    for text, one in zip(texts, found, strict=True):
        assert one["words"] == pieces.encode(text).tokens, text


def test_the_module_translates_as_the_package_does() -> None:
    translator, pieces = load_real_translator()
    assert translator.source_vocab == translator.target_vocab
    found = in_node(FILE, ENGLISH)
    wanted = translator.translate([pieces.encode(text).tokens for text in ENGLISH])
    assert same(found, wanted) == 1
    assert farthest(found, wanted) <= 1e-4
    ids = [translator.target_vocab.encode(one.tokens) for one in wanted]
    assert [one["text"] for one in found] == [pieces.decode(one) for one in ids]


@pytest.mark.parametrize(("kind", "share"), [("cut", 0.95), ("swap", 0.35)])
def test_every_head_that_reads_the_sentence_is_changed(kind: str, share: float) -> None:
    translator, pieces = load_real_translator()
    model: Any = translator.model
    model.double()

    def attention(
        query: Tensor, key: Tensor, value: Tensor, mask: Tensor, *, need_weights: bool = False
    ) -> Any:
        weights = changed(attention_with_weights(query, key, value, mask)[1], kind, share)
        return (attend(weights, value), weights) if need_weights else attend(weights, value)

    plain = translator.translate([pieces.encode(text).tokens for text in ENGLISH], max_len=30)
    for block in model.decoder.blocks:
        block.cross_attention.attention_fn = attention
    found = in_node(FILE, ENGLISH, kind, share, 30)
    wanted = [translator.translate([one["words"]], max_len=30)[0] for one in found]
    assert same(found, wanted) == 1
    assert farthest(found, wanted) <= 1e-6
    assert same(found, plain) < 0.8, "the translator needs what it looks at"


def test_a_page_has_sentences_that_python_translated_and_says_where_they_come_from() -> None:
    made = real_translator()
    examples = made.data["examples"]
    assert [one["name"] for one in examples] == list(EXAMPLES)
    found = in_node(FILE, [sentence for sentence, _ in EXAMPLES.values()])
    for one, other in zip(examples, found, strict=True):
        assert (one["words"], one["written"]) == (other["words"], other["written"])
        np.testing.assert_allclose(one["rows"], other["rows"], atol=1e-4)
    said = ask(made, {}, {"shown": 1}, {"shown": 0}, want="said")
    assert said[0] == f"It writes “{found[0]['text']}”. {EXAMPLES['a question'][1]}"
    assert " looks most at " in said[1]
    assert said[2] == "Nothing is written yet."
    about = read_about(FILE)
    assert made.data["file"]["bytes"] == FILE.stat().st_size < 3_000_000
    assert CREDIT in made.caption
    for part in ("Tatoeba", "manythings.org", "filtered"):
        assert part in about["credit"]
        assert part in CREDIT
    assert about["licence"] in CREDIT
    assert LONGEST["words"] == 24
