"""Every mechanism of a specification does what its line says, and each is needed by its row."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from companion.layers.feed_forward import XIELU
from companion.models.atlas import (
    AttentionSpec,
    DecoderModel,
    DifferentialSpec,
    ExpertsSpec,
    FeedForwardSpec,
    LayerSpec,
    ModelSpec,
    NormSpec,
    RotarySpec,
    TokenInputSpec,
)
from companion.models.atlas.experts import Experts, Router
from companion.models.atlas.mixers.differential import DifferentialAttention
from companion.models.atlas.mixers.softmax import Attention
from companion.models.atlas.norms import Norm
from companion.models.atlas.residual import ResidualGate
from experiments.atlas.check import build
from experiments.atlas.rows import ROWS

PLAIN = AttentionSpec(num_heads=4, num_kv_heads=2, head_dim=8)
X = torch.randn(2, 12, 16, generator=torch.Generator().manual_seed(0))

NEEDED: list[tuple[str, str, Any]] = [
    ("gpt_oss", "mixer.sinks", None),
    ("granite_swa", "mixer.sinks", None),
    ("mimo_v2_flash", "mixer.sinks", None),
    ("mimo_v2_flash", "mixer.spec.value_scale", 1.0),
    ("mimo_v2_flash", "mixer.spec.window", 6),
    ("llama4_text", "mixer.spec.chunk", 6),
    ("llama4_text", "mixer.spec.length_scale", None),
    ("llama4_text", "mixer.query_norm", None),
    ("llama4_text", "mixer.spec.rotary.interleaved", False),
    ("llama4_text", "feed_forward.spec.weigh_input", False),
    ("hunyuan_v1_dense", "mixer.spec.qk_norm_after_rotary", False),
    ("gemma4_text", "mixer.value_norm", None),
    ("gemma4_text", "mixer.spec.rotary.still", 0),
    ("gemma4_text", "mixer.spec.scale", None),
    ("gemma4_text", "scalar", None),
    ("gemma4_text", "token_input", None),
    ("afmoe", "mixer.gate_proj", None),
    ("laguna", "mixer.spec.gate_activation", "sigmoid"),
    ("laguna", "feed_forward.router.spec.softcap", None),
    ("step3p7", "mixer.gate_proj", None),
    ("muse_spark", "mixer.output_norm", None),
    ("muse_spark", "mixer_gate", None),
    ("muse_spark", "feed_forward.post_norm", None),
    ("muse_spark", "feed_forward_post_norm.spec.gain_first", False),
    ("kolibri1", "feed_forward.router.correction", None),
    ("exaone_moe", "feed_forward.router.spec.groups_per_token", 3),
    ("cohere2_moe", "feed_forward.spec.averaged", False),
    ("diffllama", "mixer.spec.first_factor", 0.9),
    ("gpt_neox", "spec.two_norms", False),
    ("beam", "mixer.gate_bias", None),
    ("nemotron", "mixer_norm.bias", None),
]
"""A row, a part of its layers, and what makes the part useless."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "part", "value"), NEEDED)
def test_a_model_without_the_mechanism_differs_from_its_reference(
    name: str, part: str, value: Any
) -> None:
    model, reference = build(next(row for row in ROWS if row.name == name))
    changed = [_changed(layer, part.split("."), value) for layer in model.layers]
    assert any(changed)
    tokens = torch.randint(3, 67, (2, 23))
    with torch.no_grad():
        difference = model(tokens)[0] - reference(tokens, use_cache=False).logits
    assert difference.abs().max() > 1e-3


def _changed(thing: Any, path: list[str], value: Any) -> bool:
    """Set a part of a layer where the layer has it, and say whether it had."""
    first, *rest = path
    part = getattr(thing, first, None)
    if part is None or (not rest and part == value):
        return False
    if not rest:
        setattr(thing, first, value)
        return True
    if isinstance(part, nn.Module):
        return _changed(part, rest, value)
    new = _replaced(part, rest, value)
    setattr(thing, first, new)
    return bool(new != part)


def _replaced(spec: Any, path: list[str], value: Any) -> Any:
    first, *rest = path
    part = getattr(spec, first, None)
    if part is None:
        return spec
    return replace(spec, **{first: _replaced(part, rest, value) if rest else value})


def _given(spec: AttentionSpec, x: Tensor = X, seed: int = 1) -> Tensor:
    torch.manual_seed(seed)
    with torch.no_grad():
        return Attention(16, spec)(x)[0]


def _reach(spec: AttentionSpec, query: int) -> list[int]:
    """Return the tokens whose change changes what a query gathers."""
    whole, found = _given(spec), []
    for token in range(X.shape[1]):
        x = X.clone()
        x[:, token] += 1
        if not torch.equal(_given(spec, x)[:, query], whole[:, query]):
            found.append(token)
    return found


def test_a_window_reaches_so_many_tokens() -> None:
    assert _reach(replace(PLAIN, window=3), query=7) == [5, 6, 7]


def test_a_chunk_begins_anew() -> None:
    for query, tokens in [(3, [0, 1, 2, 3]), (4, [4]), (7, [4, 5, 6, 7])]:
        assert _reach(replace(PLAIN, chunk=4), query) == tokens


def test_a_chunk_keeps_what_its_next_token_can_reach() -> None:
    attention = Attention(16, replace(PLAIN, chunk=4))
    kept = attention.trim(attention(X)[1])
    assert kept.key.shape[-2] == 3
    assert kept.length == 12


@pytest.mark.parametrize(("activation", "factor"), [("sigmoid", 0.5), ("softplus", math.log(2))])
@pytest.mark.parametrize("gate", ["feature", "head"])
def test_a_gate_of_zeros_multiplies_by_what_its_activation_makes_of_them(
    gate: Any, activation: Any, factor: float
) -> None:
    torch.manual_seed(1)
    gated = Attention(16, replace(PLAIN, gate=gate, gate_activation=activation))
    assert gated.gate_proj is not None
    nn.init.zeros_(gated.gate_proj.weight)
    with torch.no_grad():
        torch.testing.assert_close(gated(X)[0], factor * _given(PLAIN))


def test_length_scale_leaves_the_first_stretch_alone() -> None:
    scaled = _given(replace(PLAIN, length_scale=(0.5, 6)))
    torch.testing.assert_close(scaled[:, :5], _given(PLAIN)[:, :5])
    assert not torch.allclose(scaled[:, 5:], _given(PLAIN)[:, 5:])


def test_length_power_multiplies_queries() -> None:
    attention = Attention(16, replace(PLAIN, length_power=(2.0, 4)))
    torch.manual_seed(1)
    plain = Attention(16, PLAIN)
    attention.load_state_dict(plain.state_dict())
    with torch.no_grad():
        given = attention(X)[0][:, 3]
        plain.query_proj.weight *= (1 + 4 / 4) ** 2  # position 3 is the fourth
        torch.testing.assert_close(given, plain(X)[0][:, 3])


def test_pairs_that_stand_still_are_not_rotated() -> None:
    heads = torch.randn(1, 1, 5, 8)
    turned = RotarySpec(width=4, still=2).turn(heads, torch.arange(5))
    same = (turned == heads)[..., 1:, :].flatten(0, -2).all(0)
    assert same.tolist() == [False, False, True, True, False, False, True, True]


def test_a_layer_that_shares_has_no_weights_for_keys_and_keeps_nothing() -> None:
    own = LayerSpec(PLAIN, FeedForwardSpec(8))
    spec = ModelSpec(vocab_size=7, embed_dim=16, layers=(own, replace(own, shares=0)))
    model = DecoderModel(spec)
    assert not [name for name in model.state_dict() if name.startswith("layers.1.mixer.key")]
    _, states = model(torch.tensor([[1, 2, 3]]))
    assert states[1] is None
    assert spec.state_bytes(3) == replace(spec, layers=(own,)).state_bytes(3)


def test_a_layer_that_shares_needs_what_it_shares() -> None:
    with pytest.raises(ValueError, match="memory: got None"):
        Attention(16, PLAIN, shares=True)(X)


def test_only_an_earlier_layer_that_makes_its_own_can_be_shared() -> None:
    for shares in (1, 2):
        own = LayerSpec(PLAIN, None)
        layers = (own, replace(own, shares=0), replace(own, shares=shares))
        with pytest.raises(ValueError, match="layer 2 has shares"):
            ModelSpec(vocab_size=7, embed_dim=16, layers=layers)


def test_all_layers_read_their_tokens_or_none() -> None:
    layer = LayerSpec(PLAIN, None, token_input=TokenInputSpec(dim=4))
    with pytest.raises(ValueError, match="token_input"):
        ModelSpec(vocab_size=7, embed_dim=16, layers=(layer, replace(layer, token_input=None)))


def test_keys_can_be_values() -> None:
    torch.manual_seed(1)
    attention = Attention(16, replace(PLAIN, key_is_value=True, rotary=RotarySpec(width=8)))
    _, memory = attention(X)
    torch.testing.assert_close(memory.key[..., 0, :], memory.value[..., 0, :])  # position 0
    assert not torch.allclose(memory.key[..., 1:, :], memory.value[..., 1:, :])


def test_heads_that_are_equal_cancel() -> None:
    spec = DifferentialSpec(num_heads=2, num_kv_heads=2, head_dim=8, first_factor=0.999)
    attention = DifferentialAttention(16, spec)
    with torch.no_grad():
        for weights in (attention.query_proj, attention.key_proj):
            assert weights is not None
            weights.weight[8:] = weights.weight[:8]
        for vector in attention.factors.values():
            vector.zero_()
        assert attention(X)[0].abs().max() < 1e-2


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"num_kv_heads": 1}, "even"), ({"sinks": True}, "sinks"), ({"softcap": 2.0}, "softcap")],
)
def test_heads_that_cannot_be_subtracted_are_refused(fields: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DifferentialSpec(**({"num_heads": 4, "num_kv_heads": 2, "head_dim": 8} | fields))


def test_residual_gates_keep_the_sum_of_squares() -> None:
    gate = ResidualGate(5, temperature=0.5)
    nn.init.normal_(gate.gate)
    one, none = torch.ones(5), torch.zeros(5)
    torch.testing.assert_close(gate(one, none).square() + gate(none, one).square(), one)


def test_a_gain_can_come_first() -> None:
    after, first = (Norm(6, NormSpec(gain_first=choice)) for choice in (False, True))
    for norm in (after, first):
        assert norm.weight is not None
        nn.init.constant_(norm.weight, 3.0)
    x = torch.randn(4, 6)
    torch.testing.assert_close(after(x), 3 * first(x), atol=1e-5, rtol=1e-4)


def test_a_correction_chooses_and_does_not_weigh() -> None:
    spec = ExpertsSpec(4, 1, 8, scores="sigmoid_of_chosen", corrected=True, normalised=False)
    router = Router(16, spec)
    assert router.correction is not None
    router.correction[2] = 100.0
    weights, chosen = router(X[0])
    assert set(chosen.flatten().tolist()) == {2}
    torch.testing.assert_close(weights, router.proj(X[0]).sigmoid()[:, 2:3])


def test_experts_and_the_shared_one_are_averaged() -> None:
    experts = Experts(16, ExpertsSpec(4, 2, 8, shared_dim=8))
    whole = experts(X)
    experts.spec = replace(experts.spec, averaged=True)
    torch.testing.assert_close(experts(X), whole / 2)


def test_xielu_goes_through_zero_with_its_slope() -> None:
    x = torch.tensor(0.0, requires_grad=True)
    y = XIELU()(x)
    (slope,) = torch.autograd.grad(y, x)
    assert y.item() == 0.0
    assert slope.item() == pytest.approx(0.5)
