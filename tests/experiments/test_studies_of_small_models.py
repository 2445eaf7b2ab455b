"""What the studies of small models draw, train and measure."""

import itertools
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pytest
import torch
from torch import Generator, Tensor

from bookkit.notebook.letters import Letters
from companion.attention import scaled_dot_product_attention
from companion.layers import MultiHeadAttention
from companion.linear import recurrent_linear_attention
from companion.masks import causal_mask
from companion.models.transformer import LanguageModel
from companion.positions import rotate
from experiments.first_mark import study as first_mark
from experiments.from_scratch import study as from_scratch
from experiments.from_scratch.study import Mistake
from experiments.heads import study as heads
from experiments.hops import study as hops
from experiments.induction import study as induction
from experiments.kv_heads import study as kv_heads
from experiments.masks import study as masks
from experiments.positions import study as positions
from experiments.recall import study as recall

pytestmark = pytest.mark.slow

# The study of silent mistakes: what its arms are, what is tuned, and what it measures.

CAUSAL: tuple[Mistake, ...] = ("none", "no_attention", "no_scale", "swapped", "view", "one_less")
"""Arms whose outputs do not depend on what comes later, on sequences of one length."""


def generators(*seeds: int) -> list[Generator]:
    return [Generator().manual_seed(seed) for seed in seeds]


def readers(mistake: Mistake) -> from_scratch.Readers:
    return from_scratch.Readers(mistake, from_scratch.TASK, generators(3, 4))


def drawn() -> Tensor:
    return from_scratch.TASK.batch(generators(5, 6), 3)[0]


def test_the_right_arm_is_attention() -> None:
    model = readers("none")
    x = torch.randn(2, 3, 16, from_scratch.EMBED_DIM, generator=Generator().manual_seed(1))
    for seed in range(2):
        weights = {name: weight[seed] for name, weight in model.weights.items()}
        heads = [
            (x[seed] @ weights[name]).reshape(3, 16, from_scratch.HEADS, -1).transpose(1, 2)
            for name in ("query", "key", "value")
        ]
        blend = scaled_dot_product_attention(heads[0], heads[1], heads[2], is_causal=True)
        wanted = blend.transpose(1, 2).reshape(3, 16, -1) @ weights["output"]
        torch.testing.assert_close(model.attention(x)[seed], wanted)


def test_who_sees_the_future() -> None:
    for mistake in from_scratch.MISTAKES:
        features = drawn()
        later = features.clone()
        later[:, :, -1] = later[:, :, -1].flip(-1)
        before, after = (readers(mistake)(x)[:, :, :-1] for x in (features, later))
        assert torch.allclose(before, after, atol=1e-5) == (mistake in CAUSAL)


def test_models_side_by_side_do_not_meet() -> None:
    setting = from_scratch.Setting("query_axis", learning_rate=0.01, steps=8)
    task = replace(from_scratch.TASK, test_size=20)
    _, both = from_scratch.fit(setting, task, (7, 8))
    _, alone = from_scratch.fit(setting, task, (8,))
    torch.testing.assert_close(both[:, 1], alone[:, 0], rtol=1e-4, atol=1e-4)
    assert not torch.allclose(both[:, 0], both[:, 1], atol=1e-3)


def test_accuracies_count_what_is_asked() -> None:
    logits = torch.eye(3)[torch.tensor([[[0, 1, 2, 2]], [[0, 0, 0, 0]]])]
    answers = torch.tensor([[[0, 1, 0, 0]], [[1, 0, 0, 0]]])
    asked = torch.tensor([[[True, True, True, False]], [[True, False, False, False]]])
    assert from_scratch.accuracies(logits, answers, asked) == pytest.approx([200 / 3, 0.0])


def test_the_masks_of_the_arms() -> None:
    scores = torch.zeros(1, 4, 4)
    allowed = causal_mask(4, like=scores)
    for mistake, mask in (
        ("none", allowed),
        ("inverted", ~allowed),
        ("one_more", causal_mask(4, offset=1, like=scores)),
        ("one_less", causal_mask(4, offset=-1, like=scores)),
        ("late", allowed),
        ("no_mask", torch.ones(4, 4, dtype=torch.bool)),
    ):
        weights = from_scratch.weights_of(scores, mistake)  # type: ignore[arg-type]
        assert torch.equal(weights[0] > 0, mask)
    late = from_scratch.weights_of(scores, "late")[0]
    assert late.sum(-1).tolist() == [0.25, 0.5, 0.75, 1.0]
    assert from_scratch.weights_of(scores, "query_axis")[0].sum(-2).tolist() == [1.0] * 4


# The study of heads: its task, what its arms share, and how heads are taken apart.

POINTING = heads.Task(places=5, classes=3, pointers=2, batch_size=6, test_size=20)


def test_the_answers_are_the_classes_that_the_pointers_lead_to() -> None:
    features, answers, pointers = POINTING.batch(Generator().manual_seed(5), 4)
    assert features.shape == (4, 5, POINTING.width) == (4, 5, 18)
    assert features.square().mean() == pytest.approx(1, rel=1e-5)
    names, classes, first, second = torch.split(features, [5, 3, 5, 5], dim=-1)
    assert torch.equal(names.argmax(-1), torch.arange(5).expand(4, 5))
    assert torch.equal(torch.stack([first, second], -1).argmax(2), pointers)
    for b, n, m in itertools.product(range(4), range(5), range(2)):
        assert answers[b, n, m] == classes[b, pointers[b, n, m]].argmax()


@pytest.mark.parametrize("head_dim", [None, 5])
def test_the_parts_of_the_heads_sum_to_the_layers_output(head_dim: int | None) -> None:
    torch.manual_seed(0)
    attention = MultiHeadAttention(12, 3, head_dim=head_dim).double()
    x = torch.randn(2, 7, 12, dtype=torch.float64)
    parts, weights = heads.contributions(attention, x)
    assert parts.shape == (3, 2, 7, 12)
    assert torch.allclose(parts.sum(0), attention(x))
    d = attention.head_dim
    with torch.no_grad():
        attention.output_proj.weight[:, d : 2 * d] = 0
    assert torch.allclose(parts[0] + parts[2], attention(x))
    assert weights.shape == (2, 3, 7, 7)


def test_where_heads_look_is_averaged_over_places() -> None:
    weights = torch.rand(2, 3, 4, 4)
    pointers = torch.tensor([[[0, 1], [2, 2], [3, 0], [1, 2]], [[1, 1], [0, 3], [2, 0], [3, 3]]])
    found = heads.looked_at(weights, pointers)
    apart = [(0, 0), (0, 2), (0, 3), (1, 1), (1, 2)]  # where the two lead to different positions
    for h, m in itertools.product(range(3), range(2)):
        cells = [weights[b, h, q, pointers[b, q, m]] for b, q in apart]
        assert found[h, m] == pytest.approx(float(torch.stack(cells).mean()), rel=1e-5)


def test_removing_heads_is_measured_against_the_whole() -> None:
    """A head whose part is zero is spare; the rest then carries everything."""
    setting = heads.Setting(3, 2, learning_rate=0.02, steps=60)
    model, _ = heads.fit(setting, POINTING, seed=3)
    d = model.attention.head_dim
    with torch.no_grad():
        model.attention.output_proj.weight[:, d:] = 0
    found = heads.examined(model, setting, POINTING, seed=3)
    assert found["removed/least"] == found["removed/median"] == found["removed/half"] == 0
    assert found["removed/most"] > 5
    assert found["spare"] == pytest.approx(200 / 3)
    assert found["accuracy"] == pytest.approx((found["right/1"] + found["right/2"]) / 2)
    assert found["share/1"] >= found["share/2"]


# The study of layers that follow notes: its rooms, its answers, and what its arms share.

ROOM = hops.Room(people=5, colours=3, batch_size=6, test_size=20)


def test_answers_are_the_colours_at_which_the_notes_lead() -> None:
    _, colours, notes = ROOM.batch(Generator().manual_seed(6), 4)
    one, two = (hops.answers(colours, notes, steps) for steps in (1, 2))
    for b, person in itertools.product(range(4), range(5)):
        named = notes[b, person]
        assert one[b, person] == colours[b, named]
        assert two[b, person] == colours[b, notes[b, named]]


def test_where_layers_look_is_averaged_over_people() -> None:
    torch.manual_seed(0)
    model = hops.Follower(hops.Setting(2, 2, hidden=8), ROOM)
    features, _, notes = ROOM.batch(Generator().manual_seed(7), 3)
    with torch.no_grad():
        found = hops.looks(model, features, notes)
        maps = hops.maps(model, features)
    assert set(found) == {f"looks/{layer}/{step}" for layer in (1, 2) for step in (1, 2)}
    for layer, weights in enumerate(maps, start=1):
        torch.testing.assert_close(weights.sum(-1), torch.ones(3, 5))
        first = [weights[b, i, notes[b, i]] for b in range(3) for i in range(5)]
        second = [weights[b, i, notes[b, notes[b, i]]] for b in range(3) for i in range(5)]
        for step, cells in ((1, first), (2, second)):
            mean = float(torch.stack(cells).mean())
            assert found[f"looks/{layer}/{step}"] == pytest.approx(mean, rel=1e-5)


# The study of copying: its texts, its model, and what is measured of its heads.

COPYING = induction.Task(symbols=9, length=13, shortest=3, longest=5, batch_size=4, test_size=6)
SETTING = induction.Setting(2, 4, 4e-3, every=2, width=16, num_heads=2)


def test_scores_are_those_of_loops() -> None:
    torch.manual_seed(1)
    model = induction.attention_only(SETTING, COPYING)
    sequences, lengths = COPYING.test()
    found = induction.head_scores(model, sequences, lengths)
    logits, weights = model(sequences, need_weights=True)
    wanted: dict[str, list[list[float]]] = {name: [[], []] for name in found}
    hits: list[bool] = []
    for b, length in enumerate(lengths.tolist()):
        for i in range(length, 13):
            for h in range(2):
                wanted["previous"][h].append(weights[0][b, h, i, i - 1].item())
                wanted["latest"][h].append(weights[1][b, h, i, i - length + 1].item())
                copies = range(i - length + 1, -1, -length)
                wanted["induction"][h].append(sum(weights[1][b, h, i, j].item() for j in copies))
            if i < 12:
                hits.append(logits[b, i].argmax().item() == sequences[b, i + 1].item())
    for name, by_head in wanted.items():
        assert found[name] == pytest.approx([sum(s) / len(s) for s in by_head], rel=1e-5)
    seen = induction.looked_at(model, sequences, lengths)
    assert seen["accuracy"] == pytest.approx(100 * sum(hits) / len(hits))
    assert seen["previous"] == max(found["previous"])
    assert seen["induction"] == max(found["induction"])


def test_a_head_that_is_taken_away_gives_its_mean() -> None:
    torch.manual_seed(3)
    model = induction.attention_only(SETTING, COPYING)
    sequences, lengths = COPYING.test()
    attention = model.decoder.blocks[1].self_attention
    assert isinstance(attention, MultiHeadAttention)
    seen: list[torch.Tensor] = []
    handle = attention.output_proj.register_forward_pre_hook(
        lambda _, given: seen.append(given[0].detach())
    )
    plain = induction.right(model, sequences, lengths)
    induction.without_heads(model, sequences, lengths, 1, [0])
    assert induction.right(model, sequences, lengths) == plain
    handle.remove()
    before, without, again = seen
    width = before.shape[-1] // 2
    mean = before[..., :width].mean((0, 1)).expand_as(before[..., :width])
    torch.testing.assert_close(without[..., :width], mean)
    torch.testing.assert_close(without[..., width:], before[..., width:])
    torch.testing.assert_close(again, before)


def test_turning_points_are_those_of_a_curve() -> None:
    setting = induction.Setting(2, 300, every=50)
    curve = [0.0, 1.0, 2.0, 60.0, 80.0, 82.0, 84.0]
    measures = {
        f"{name}/{50 * n:04d}": value
        for name in ("accuracy", "previous", "induction")
        for n, value in enumerate(curve)
    }
    found = induction.turning_points(measures, setting)
    assert found == {
        "largest_gain": 78.0, "largest_gain_at": 150.0,
        "half/accuracy": 150.0, "half/previous": 150.0, "half/induction": 150.0,
    }  # fmt: skip


# The study of smaller caches: rows, heads that share, and what a cache of fixed size sees.


def test_rows_begin_with_the_mark_and_go_on_with_the_text() -> None:
    text = torch.arange(10, 17)
    rows = kv_heads.rows_of(text, 4, torch.tensor([0, 5]), bos_id=1)
    assert rows.tolist() == [[1, 10, 11, 12, 13], [1, 15, 16, 10, 11]]


def test_streaming_attention_is_attention_to_what_a_cache_holds() -> None:
    """One query at a time, with the keys of a cache at their places in it."""
    for recent, kept in [(5, 0), (4, 1), (3, 2), (9, 3)]:
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


# The study of masks and padding: what its arms are and what it measures.


def test_the_second_half_follows_from_the_first() -> None:
    for rule, successor in (("same", 0), ("next", 1)):
        task = masks.Copying(rule, letters=5, half=7)  # type: ignore[arg-type]
        text = task.draw(50, Generator().manual_seed(3))
        assert text.shape == (50, 14)
        assert torch.equal(text[:, 7:], (text[:, :7] + successor) % 5)
        assert set(text.flatten().tolist()) == set(range(5))


def test_the_masks_by_loops() -> None:
    for kind in masks.MASKS:
        mask = masks.mask_of(kind, 5)
        for i, j in product(range(5), range(5)):
            allowed = {"causal": j <= i, "leak": j <= i + 1, "inverted": j > i}[kind]
            assert bool(mask[i, j]) is allowed


class Successor(torch.nn.Module):
    """Says the successor of the letter three places before the next one."""

    def forward(self, letters: Tensor) -> Tensor:
        known = (letters.roll(2, dims=1) + 1) % 5
        return torch.nn.functional.one_hot(known, 5).float()


def test_generation_goes_on_from_what_was_said() -> None:
    text = masks.Copying("next", letters=5, half=3).draw(9, Generator().manual_seed(2))
    assert torch.equal(masks.generate(Successor(), text[:, :3], 3), text)
    longer = masks.generate(Successor(), text, 3)
    assert torch.equal(longer[:, 6:], (text[:, 3:] + 1) % 5)


def test_padding_moves_the_output_as_the_formula_says() -> None:
    """Zeros have score 0 and value 0: what is left is the share of the words."""
    padding = masks.Padding(sentences=3, words=4, embed_dim=6, pads=(5,))
    found = masks.padding_moves(padding, seed=9)
    generator = Generator().manual_seed(9)
    words = torch.randn(3, 4, 6, generator=generator).double()
    query, key, value = words @ (torch.randn(3, 1, 6, 6, generator=generator) / 6**0.5).double()
    powers = (query @ key.mT / 6**0.5).exp()
    total = powers.sum(-1, keepdim=True)
    alone = powers @ value / total
    moved = powers @ value / (total + 5)
    wanted = 100 * float((moved - alone).norm() / alone.norm())
    assert found["zeros/5"] == pytest.approx(wanted, rel=1e-5)
    assert found["masked"] < 1e-3


# The study of positions: its arms, what they share, and their settings.

LETTERS = Letters(letters=5, back=2, length=12, batch_size=4, test_size=6)


class Oracle:
    """Answers right up to a place, and else with a letter that does not exist."""

    def __init__(self, last: int) -> None:
        self.last = last

    def __call__(self, tokens: Any) -> Any:
        places = torch.arange(tokens.shape[1])
        said = torch.where(places <= self.last, tokens.roll(LETTERS.back, 1), LETTERS.letters)
        return torch.nn.functional.one_hot(said, LETTERS.letters + 1)


def test_accuracy_is_that_of_the_last_quarter() -> None:
    model: Any = Oracle(last=20)
    found = positions.accuracy(model, LETTERS, seed=3)
    assert found == pytest.approx(
        {"accuracy/12": 100, "accuracy/18": 100, "accuracy/24": 50, "accuracy/48": 0}
    )
    model = Oracle(last=6)
    shares = first_mark.by_quarter(model, LETTERS, seed=3).values()
    assert list(shares) == pytest.approx([100, 100, 100 / 3, 0])


# The study of recall: its question, its ways to look back, and what a window can hold.

PAIRS = recall.Task(keys=9, values=5, pairs=(4, 8), batch_size=3, test_size=4)


def test_every_pair_is_shown_and_asked_once() -> None:
    tokens, answers, asked = PAIRS.draw(6, 4, Generator().manual_seed(5))
    assert tokens.shape == (6, 12)
    assert answers.shape == asked.shape == (6, 4)
    for row, right, order in zip(tokens.tolist(), answers.tolist(), asked.tolist(), strict=True):
        shown = dict(zip(row[:8:2], row[1:8:2], strict=True))
        assert len(shown) == 4
        assert sorted(row[8:]) == sorted(shown)
        assert [shown[key] - PAIRS.keys for key in row[8:]] == right
        assert [row[2 * pair] for pair in order] == row[8:]
    assert int(tokens[:, 1:8:2].min()) >= PAIRS.keys > int(tokens[:, ::2].max())


def test_reach_counts_the_places_between() -> None:
    asked = torch.tensor([[0, 7, 8, 15] + [n for n in range(16) if n not in (0, 7, 8, 15)]])
    found = recall.in_reach(asked)[0]
    for m, pair in enumerate(asked[0].tolist()):
        question, value = 32 + m, 2 * pair + 1
        assert bool(found[m]) == (question - value <= recall.WINDOW - 1)
    assert found.tolist()[:4] == [False, True, True, True]


def test_states_have_keys_of_length_one() -> None:
    rows: list[tuple[recall.Mixer, str]] = [("sum", ""), ("decay", "decay"), ("delta", "beta")]
    for mixer, name in rows:
        generator = Generator().manual_seed(5)
        query, key, value = torch.randn(3, 2, 11, 8, generator=generator).double()
        gate = torch.rand(2, 11, generator=generator).double()
        one, two = (x / x.norm(dim=-1, keepdim=True) for x in (query, key))
        wanted, state = recurrent_linear_attention(
            one, two, value, **({name: gate} if name else {})
        )
        found = recall.mixed_by(mixer, query, key, value, gate if name else None)
        torch.testing.assert_close(found, wanted)
        assert state[0].numel() == 64


def test_what_is_measured_of_a_model_that_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """An oracle that remembers the newer half of the pairs."""

    class Oracle(recall.Recaller):
        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            pairs = tokens.shape[1] // 3
            said = torch.full(tokens.shape, PAIRS.values)
            for row, ids in enumerate(tokens.tolist()):
                newer = range(pairs // 2, pairs)
                known = {ids[2 * n]: ids[2 * n + 1] - PAIRS.keys for n in newer}
                for place in range(2 * pairs, 3 * pairs):
                    said[row, place] = known.get(ids[place], PAIRS.values)
            return torch.nn.functional.one_hot(said, PAIRS.values + 1).double()

    found = recall.measured(Oracle("delta", PAIRS), PAIRS, seed=3)
    assert found["accuracy/4"] == found["accuracy/8"] == 50
    assert [found[f"age/{n}"] for n in (1, 2, 3, 4)] == [0, 0, 100, 100]
    assert all(0 < found[f"gate/{kind}"] < 1 for kind in ("keys", "values", "questions"))
