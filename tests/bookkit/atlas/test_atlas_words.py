"""A specification in words: patterns, heads, positions, marks, bytes."""

from dataclasses import replace

from bookkit.atlas.kinds import kind_of, pattern
from bookkit.atlas.rows import load_atlas
from bookkit.atlas.words import LENGTH, MARKS, describe, marks
from companion.models.atlas import AttentionSpec, LayerSpec, ModelSpec, NormSpec, RotarySpec
from companion.models.atlas.mixers.gated_delta import GatedDeltaSpec
from companion.models.atlas.mixers.latent import LatentSpec

ROTARY = RotarySpec(width=16)
FULL = AttentionSpec(8, 2, 16, rotary=ROTARY)
NEAR = replace(FULL, window=7)
STILL = replace(FULL, rotary=None)
STATE = GatedDeltaSpec(num_key_heads=2, num_value_heads=4, key_dim=8, value_dim=8)
ROWS = load_atlas().rows


def model(*mixers: AttentionSpec | GatedDeltaSpec | LatentSpec | None) -> ModelSpec:
    return ModelSpec(11, 16, tuple(LayerSpec(mixer, None) for mixer in mixers))


def test_a_pattern_is_told_as_short_as_it_can_be() -> None:
    rows: list[tuple[tuple[AttentionSpec | GatedDeltaSpec | None, ...], str]] = [
        ((FULL,) * 4, "4 full"),
        ((NEAR, FULL) * 3, "1 window of 7 : 1 full, 3 times"),
        (
            (NEAR, NEAR, FULL) * 2 + (NEAR,),
            "(2 windows of 7 : 1 full), 2 times, then 1 window of 7",
        ),
        (
            (FULL, FULL, *(STATE, NEAR) * 2),
            "2 full, then (1 Gated DeltaNet : 1 window of 7), 2 times",
        ),
        ((NEAR, STILL), "1 window of 7, then 1 full NoPE"),
        ((FULL, None), "1 full, then 1 without attention"),
        ((replace(FULL, chunk=5), FULL), "1 chunk of 5, then 1 full"),
    ]
    for mixers, words in rows:
        assert pattern(model(*mixers)) == words


def test_what_is_beside_plain_attention_is_marked() -> None:
    rows: list[tuple[AttentionSpec, str]] = [
        (NEAR, "sliding window"),
        (replace(FULL, chunk=5), "sliding window"),
        (replace(FULL, sinks=True), "sinks"),
        (replace(FULL, gate="head"), "gated attention"),
        (replace(FULL, qk_norm=NormSpec()), "QK-norm"),
        (STILL, "NoPE"),
    ]
    for mixer, mark in rows:
        assert marks(model(FULL, mixer)) == {mark}
        assert marks(model(FULL)) == set()


def test_a_latent_whose_shared_part_is_not_rotated_has_no_positions() -> None:
    latent = LatentSpec(num_heads=2, latent_dim=5, head_dim=3, rotary_dim=4, value_dim=4)
    spec = model(STATE, latent)
    assert marks(spec) == {"state", "MLA", "NoPE"}
    assert pattern(spec) == "1 Gated DeltaNet, then 1 MLA NoPE"
    assert describe(spec).positions == "NoPE"
    assert "NoPE" in describe(load_atlas().row("kimi_linear").spec).marks


def test_a_layer_that_shares_is_marked_and_keeps_nothing() -> None:
    shared = LayerSpec(FULL, None, shares=0)
    spec = ModelSpec(11, 16, (LayerSpec(FULL, None), shared))
    assert marks(spec) == {"shared keys and values"}
    assert kind_of(shared).one == "full shared by an earlier layer"
    assert describe(spec).token == describe(model(FULL)).token == 64


def test_what_grows_and_what_does_not_are_told_apart() -> None:
    facts = describe(model(FULL, NEAR, STATE))
    assert facts.token == 64
    assert facts.fixed == sum(part.numbers for part in STATE.keeps() if part.tokens is None) > 0
    assert facts.bytes == model(FULL, NEAR, STATE).state_bytes(LENGTH)


def test_every_architecture_can_be_told() -> None:
    for row in ROWS:
        facts = describe(row.spec)
        assert facts.layers == len(row.spec.layers)
        assert all((facts.pattern, facts.feed_forward, facts.norms)), row.model_type
        assert set(facts.marks) <= set(MARKS), row.model_type
        assert facts.bytes == row.spec.state_bytes(LENGTH), row.model_type
        long, longer = (row.spec.state_bytes((1 << 24) + n, itemsize=1) for n in (-4096, 0))
        assert facts.token == (longer - long) // 4096, row.model_type
        told = " ".join((facts.heads, facts.positions, *facts.details))
        assert "None" not in told, row.model_type
