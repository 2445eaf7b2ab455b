"""What the studies of small models measure; what they draw and train, their smoke runs hold."""

import itertools
from functools import partial
from typing import Any

import pytest
import torch
from torch import Generator, Tensor

from bookkit.notebook.letters import Letters
from companion.attention import scaled_dot_product_attention
from companion.layers import MultiHeadAttention
from companion.positions import rotate
from experiments.first_mark import study as first_mark
from experiments.from_scratch import study as from_scratch
from experiments.from_scratch.study import Mistake
from experiments.heads import study as heads
from experiments.hybrids import study as hybrids
from experiments.induction import study as induction
from experiments.kv_heads import study as kv_heads
from experiments.masks import study as masks
from experiments.positions import study as positions
from experiments.recall import study as recall

pytestmark = pytest.mark.slow

# The study of silent mistakes: what its arms are, and what it measures.

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


def test_accuracies_count_what_is_asked() -> None:
    logits = torch.eye(3)[torch.tensor([[[0, 1, 2, 2]], [[0, 0, 0, 0]]])]
    answers = torch.tensor([[[0, 1, 0, 0]], [[1, 0, 0, 0]]])
    asked = torch.tensor([[[True, True, True, False]], [[True, False, False, False]]])
    assert from_scratch.accuracies(logits, answers, asked) == pytest.approx([200 / 3, 0.0])


# The study of heads: where they look, and how they are taken apart.

POINTING = heads.Task(places=5, classes=3, pointers=2, batch_size=6, test_size=20)


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


# The study of smaller caches: what a cache of fixed size sees.


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


# The study of masks and padding: what it measures.


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


# The study of positions: what is right.

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


# The study of recall: what is measured.

PAIRS = recall.Task(keys=9, values=5, pairs=(4, 8), batch_size=3, test_size=4)


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


# The study of mixed layers.


def test_all_keys_are_attention_and_one_key_teaches_no_score() -> None:
    layer = hybrids.Layer(True, 0)
    x = torch.randn(2, 11, recall.WIDTH, generator=Generator().manual_seed(3))
    whole = layer(x)
    layer.keys = 11
    torch.testing.assert_close(layer(x), whole)
    layer.keys = 1
    layer(x).square().sum().backward()
    learned = layer.inputs.weight.grad
    assert learned is not None
    scores, values = learned[: 2 * recall.KEY_WIDTH], learned[2 * recall.KEY_WIDTH :]
    assert scores.abs().max() < 1e-5 < values.abs().max()  # 0 but for rounding
