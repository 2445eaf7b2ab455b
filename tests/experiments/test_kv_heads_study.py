"""The study of smaller caches: rows, heads that share, and what a cache of fixed size sees."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest
import torch

from bookkit.notebook import load_result
from companion.attention import scaled_dot_product_attention
from companion.cache import KVCache
from companion.cost import kv_cache_bytes
from companion.models.transformer import LanguageModel
from companion.positions import rotate
from experiments.engine.trials import tuned_file
from experiments.kv_heads import study as kv_heads

SMALL = kv_heads.Task(
    sentences=40, unread=20, max_length=8, length=10, batch_size=3, rows=2, cache=6, written=2
)


def test_rows_begin_with_the_mark_and_go_on_with_the_text() -> None:
    text = torch.arange(10, 17)
    rows = kv_heads.rows_of(text, 4, torch.tensor([0, 5]), bos_id=1)
    assert rows.tolist() == [[1, 10, 11, 12, 13], [1, 15, 16, 10, 11]]


def test_no_sentence_is_both_read_and_unread() -> None:
    known, unread, words = kv_heads.texts(SMALL, 3)
    other, same, _ = kv_heads.texts(SMALL, 4)
    assert not sentences(known, words.eos_id) & sentences(unread, words.eos_id)
    assert len(sentences(known, words.eos_id)) == SMALL.sentences
    assert torch.equal(unread, same) or len(words) != len(kv_heads.texts(SMALL, 4)[2])
    assert known.tolist() != other.tolist()


def sentences(text: torch.Tensor, eos_id: int) -> set[tuple[int, ...]]:
    found: list[list[int]] = [[]]
    for word in text.tolist():
        if word == eos_id:
            found.append([])
        else:
            found[-1].append(word)
    return {tuple(words) for words in found if words}


def test_wider_layers_make_up_for_the_heads() -> None:
    counts = {
        name: sum(weight.numel() for weight in kv_heads.make(setting, 100).parameters())
        for name, setting in kv_heads.arms().items()
    }
    assert counts["8"] > counts["4"] > counts["2"] > counts["1"]
    assert counts["1-wide"] == pytest.approx(counts["8"], rel=0.005)


@pytest.mark.parametrize(("recent", "kept"), [(5, 0), (4, 1), (3, 2), (9, 3)])
def test_streaming_attention_is_attention_to_what_a_cache_holds(recent: int, kept: int) -> None:
    """One query at a time, with the keys of a cache at their places in it."""
    generator = torch.Generator().manual_seed(5)
    n, d = 13, 8
    draw = partial(torch.randn, generator=generator, dtype=torch.float64)
    query, key, value = draw(1, 4, n, d), draw(1, 2, n, d), draw(1, 2, n, d)
    places = torch.arange(n)
    found = kv_heads.streaming_attention(
        rotate(query, places), rotate(key, places), value, recent=recent, kept=kept
    )
    for i in range(n):
        held = [j for j in range(i + 1) if j < kept or i - j < recent]
        cached = rotate(key[:, :, held], torch.arange(len(held)))
        one = rotate(query[:, :, i : i + 1], torch.tensor([len(held) - 1]))
        wanted = scaled_dot_product_attention(one, cached, value[:, :, held], enable_gqa=True)
        torch.testing.assert_close(found[:, :, i : i + 1], wanted)


@torch.no_grad()
def test_without_the_first_words_it_is_the_cache_with_a_window() -> None:
    model = kv_heads.make(kv_heads.Setting(2, 16), 20).double()
    tokens = torch.randint(20, (2, 15), generator=torch.Generator().manual_seed(5))
    layers = [block.self_attention for block in kv_heads._blocks(model)]
    with kv_heads.attending(model, partial(kv_heads.streaming_attention, recent=6, kept=0)):
        whole = model(tokens)
    assert all(layer.attention_fn is scaled_dot_product_attention for layer in layers)
    for layer in layers:
        layer.window = (5, 0)
    caches = [KVCache(2, 2, None, 8, window=6, dtype=torch.float64) for _ in layers]
    for n in range(tokens.shape[1]):
        x = model.embedding(tokens[:, n : n + 1], offset=n)
        hidden = model.decoder(x, caches=caches).hidden
        step = model.output(hidden, model.embedding.words)
        torch.testing.assert_close(step[:, 0], whole[:, n])


def test_all_caches_have_one_size() -> None:
    for way in kv_heads.caches(SMALL).values():
        assert isinstance(way, partial)
        assert way.keywords["recent"] + way.keywords["kept"] == SMALL.cache


@torch.no_grad()
def test_the_loss_is_that_of_the_last_words() -> None:
    class Certain(LanguageModel):
        def __init__(self) -> None:
            torch.nn.Module.__init__(self)

        def __call__(self, tokens: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
            """Say that every word follows itself."""
            return 50.0 * torch.nn.functional.one_hot(tokens, 5).double()

    rows = torch.tensor([[0, 1, 2, 2, 2], [3, 1, 4, 4, 4]])
    assert kv_heads.loss_at_the_end(Certain(), rows, 2) == pytest.approx(0)
    assert kv_heads.loss_at_the_end(Certain(), rows, 3) == pytest.approx(50 / 3)


def test_a_model_that_recites_is_sound_and_one_that_stammers_is_not() -> None:
    _, unread, words = kv_heads.texts(SMALL, 3)

    class Reciter(LanguageModel):
        """Goes on as the text goes on after its last three words."""

        def __init__(self) -> None:
            torch.nn.Module.__init__(self)

        def __call__(self, tokens: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
            said = [self._next(row) for row in tokens.tolist()]
            logits = 99.0 * torch.nn.functional.one_hot(torch.tensor(said), len(words))
            return logits[:, None].double()

        def _next(self, row: list[int]) -> int:
            text = unread.tolist() * 2
            places = [n for n in range(len(unread)) if text[n : n + 3] == row[-3:]]
            return int(text[places[0] + 3])

    assert kv_heads.sound(Reciter(), unread, words, SMALL, 3) == 100

    class Stammerer(Reciter):
        def _next(self, row: list[int]) -> int:
            return words.eos_id if len(row) % 3 == 0 else words.encode(["the"])[0]

    assert kv_heads.sound(Stammerer(), unread, words, SMALL, 3) == 0


def test_training_leaves_the_random_state_alone() -> None:
    before = torch.get_rng_state()
    setting = kv_heads.Setting(4, 16, learning_rate=0.01, steps=2)
    _, losses = kv_heads.fit(setting, SMALL, 3)
    assert len(losses) == 2
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("num_kv_heads", [4, 2, 1])
def test_keys_and_values_start_as_large_as_with_eight_heads(num_kv_heads: int) -> None:
    """A uniform draw fills its range, so its largest weight tells the range."""
    ranges = [
        [
            float(layer.weight.detach().abs().max())
            for block in kv_heads._blocks(kv_heads.make(kv_heads.Setting(heads), 50))
            for layer in (block.self_attention.key_proj, block.self_attention.value_proj)
        ]
        for heads in (num_kv_heads, kv_heads.HEADS)
    ]
    assert ranges[0] == pytest.approx(ranges[1], rel=0.02)


def test_every_arm_was_tried_with_every_rate_and_the_record_has_the_chosen_one() -> None:
    trials = json.loads(tuned_file("kv_heads").read_text(encoding="utf8"))["trials"]
    recorded = load_result("kv_heads").config["arms"]
    reported = kv_heads.reported()
    assert sorted(recorded) == sorted(reported)
    for name, setting in kv_heads.arms().items():
        found = [t["setting"]["learning_rate"] for t in trials if t["name"] == name]
        assert tuple(found) == kv_heads.rates(setting)
        assert min(found) < reported[name].learning_rate < max(found)
        assert setting == replace(reported[name], learning_rate=0.0)
        assert kv_heads.Setting(**recorded[name]) == reported[name]


def test_the_recorded_bytes_are_those_of_the_caches() -> None:
    study = load_result("kv_heads")
    for name, arm in kv_heads.reported().items():
        wanted = kv_cache_bytes(
            1,
            arm.num_kv_heads,
            1,
            kv_heads.WIDTH // kv_heads.HEADS,
            num_layers=kv_heads.BLOCKS,
            dtype=torch.float32,
        )
        assert study.config["cache_bytes"][name] == wanted
