"""Grey names and the bent ruler, in Node: what they compute is what the package computes."""

import itertools

import pytest
import torch

from bookkit.figures import bend_ruler, grey_names
from bookkit.playables.weights import quantize, restore
from companion.data.batching import collate
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary
from companion.metrics import rouge
from companion.models.pointer import PointerGenerator
from companion.models.seq2seq import Seq2SeqConfig
from companion.translation import Translator
from tests.bookkit.playables.node import ask

TEXT = """
on sunday against ended to . lost penalties was the referee nobody played better than beat , shines
9 3 11"""
WORDS = TEXT.split()
NUMBERS = [f"name{number}" for number in range(1, 6)]


def rounded(words: list[str], seed: int) -> Translator:
    """A random model whose weights are those that eight bits can say, so that nothing is lost."""
    torch.manual_seed(seed)
    vocab = Vocabulary(words)
    sizes = {"embed_dim": 5, "hidden_dim": 6, "attention": "general", "query": "present"}
    model = PointerGenerator(Seq2SeqConfig(len(vocab), len(vocab), **sizes))  # type: ignore[arg-type]
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.8)
    model.double()
    with torch.no_grad():
        for weight in model.parameters():
            levels, scale = quantize(weight.reshape(-1, weight.shape[-1]).float())
            weight.copy_(restore(levels, scale.double()).reshape(weight.shape))
    return Translator(model.eval(), vocab, vocab, copying=True)


def test_the_module_writes_what_the_package_writes() -> None:
    grey, numbered = rounded(WORDS, 1), rounded(WORDS + NUMBERS, 3)
    shown = grey_names(grey, numbered)
    states = [
        {"numbers": numbers, "exchanged": exchanged, "v": v, "home": home}
        for numbers, exchanged, (v, home) in itertools.product(
            (False, True), (False, True), ((9, "toral"), (3, "Zoé 7"), (11, "Łukasz"))
        )
    ]
    for state, found in zip(states, ask(shown, *states), strict=True):
        one = numbered if state["numbers"] else grey
        seen = [word for sentence in found["seen"] for word in sentence]
        unknown = [*dict.fromkeys(word for word in seen if word not in WORDS)]
        names = dict(zip(unknown, NUMBERS, strict=False)) if state["numbers"] else {}
        source = tuple(names.get(word, word) for word in seen)
        (said,) = one.translate([source], max_len=12)
        back = {number: word for word, number in names.items()}
        assert found["written"] == [back.get(word, word) for word in said.tokens]
        batch = collate(
            [Pair(source, said.tokens)], one.source_vocab, one.source_vocab, copying=True
        )
        with torch.no_grad():
            mixture = one.model.mixture(batch)  # type: ignore[attr-defined]
        for name, wanted in (("rows", mixture.weights[0]), ("speaks", mixture.p_gen[0])):
            got = torch.tensor(found[name], dtype=torch.float64)
            torch.testing.assert_close(got, wanted[: len(got)], atol=1e-5, rtol=0)


def test_two_reports_that_differ_in_the_loser_alone_are_one_to_grey_names() -> None:
    shown = grey_names(rounded(WORDS, 1), rounded(WORDS + NUMBERS, 3))
    mine, other = ask(shown, {}, {"exchanged": True})
    assert mine["seen"] != other["seen"]
    assert mine["right"] != other["right"]
    assert all(mine[name] == other[name] for name in ("reads", "rows", "speaks"))
    mine, other = ask(shown, {"numbers": True}, {"numbers": True, "exchanged": True})
    assert mine["reads"] != other["reads"]
    assert mine["rows"] != other["rows"]
    models = rounded(WORDS, 1), rounded(WORDS, 3)
    with pytest.raises(ValueError, match="does not know"):
        grey_names(*models, star="beat")


def test_a_name_has_letters_of_any_script_and_is_new_to_the_model_and_the_report() -> None:
    shown = grey_names(rounded(WORDS, 1), rounded(WORDS + NUMBERS, 3))
    typed = {
        "Zoé 7": ("zoé", ""), "Ōsaka": ("ōsaka", ""), "Київ": ("київ", ""),
        "-": ("?", "Type a name"),
        "Referee": ("?", "knows the word"), "zelan": ("?", "another part"),
    }  # fmt: skip
    states = [{"home": name} for name in typed]
    found = ask(shown, *states, {"away": "toral"})
    for one, (name, why) in zip(found, [*typed.values(), ("toral", "another part")], strict=True):
        assert one["seen"][0][2] == name
        assert why in one["refused"]
        assert bool(why) == bool(one["refused"])


def test_the_ruler_is_the_library_s() -> None:
    words = ["toral", "beat", "mikuno", "3", "1", ",", "vobis", "shines"]
    orders = [[2, 1, 0, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0], [3, 4, 2, 1, 0, 5, 6, 7]]
    states = [{"order": order} for order in ([*range(8)], *orders)]
    found = ask(bend_ruler(words, [0, 2, 3, 4, 6]), *states)
    for state, one in zip(states, found, strict=True):
        said = [words[at] for at in state["order"]]
        wanted = rouge([said], [words])
        assert one["rouge"] == pytest.approx(
            [wanted[name] for name in ("rouge-1", "rouge-2", "rouge-l")]
        )
    assert [one["opposite"] for one in found] == [False, True, True, True]
    assert [sum(one["right"]) for one in found] == [5, 3, 0, 2]
