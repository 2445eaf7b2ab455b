"""Layers with a state of fixed size, each equal to the layers of the models that have it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest

from companion.models.atlas.kept import bytes_kept
from companion.models.atlas.mixers.gated_delta import GatedDelta, GatedDeltaSpec
from companion.models.atlas.mixers.kda import KimiDelta, KimiDeltaSpec
from companion.models.atlas.mixers.lightning import Lightning, LightningSpec
from companion.models.atlas.mixers.mamba2 import Mamba2, Mamba2Spec
from companion.models.atlas.mixers.short_conv import ShortConv, ShortConvSpec
from tests.models.atlas.references import (
    check_cache,
    check_pieces,
    count_bytes,
    difference,
    dynamic_cache,
    quiet,
    randomised,
    tokens,
    torch,
)

Weights = dict[str, Any]
WIDTH, KERNEL, FLOOR = 12, 4, -3.0
KEY_HEADS, HEADS, KEY, DIM, STATE = 3, 6, 5, 4, 5
"""Of Gated DeltaNet and Mamba-2, where heads share what is looked for."""
EACH = 6
"""Width of a head where all heads are alike; there are `KEY_HEADS` of them."""
LAYERS = 4
"""Layers of MiniMax, whose heads forget at a rate that depends on the layer."""


class Reference(NamedTuple):
    """A layer of the library, and what we say of it.

    Attributes:
        layer: ours.
        spec: of ours.
        weights: of ours, made of what the library stores.
        folder: where the library's layer lies.
        config: its configuration.
        their: its name.
        options: of the configuration.
    """

    layer: type[Any]
    spec: Any
    weights: Callable[[Weights, Any], Weights]
    folder: str
    config: str
    their: str
    options: dict[str, Any]

    def theirs(self) -> tuple[Any, Any]:
        """The configuration and the layer, with random weights."""
        place = f"transformers.models.{self.folder}"
        kind = getattr(importlib.import_module(f"{place}.configuration_{self.folder}"), self.config)
        config = quiet(kind, hidden_size=WIDTH, **self.options)
        module = importlib.import_module(f"{place}.modeling_{self.folder}")
        made = getattr(module, self.their)(config, 1 if self.layer is Lightning else 0)
        if self.folder == "falcon_h1":
            made.register_buffer("mup_vector", module.compute_mup_vector(config))
        return config, randomised(made)

    def ours(self, layer: Any) -> Any:
        """Our layer with the weights of the library's."""
        made = self.layer(WIDTH, self.spec)
        made.load_state_dict(self.weights(layer.state_dict(), self.spec))
        return made

    def cache(self, config: Any) -> Any:
        if self.layer is not Lightning:
            return dynamic_cache(config)
        return importlib.import_module(
            "transformers.models.minimax.modeling_minimax"
        ).MiniMaxCache()

    def read(self, layer: Any, x: Any, cache: Any = None) -> Any:
        """What the library's layer gives."""
        if self.layer is Lightning:
            return layer(x, None, None, past_key_values=cache)[0]
        name = "past_key_values" if self.layer is ShortConv else "cache_params"
        return layer(x, **{name: cache})

    def same(self, state: Any, cache: Any) -> None:
        """Assert that a state of ours and the library's cache hold the same."""
        if self.layer is Lightning:
            memory = cache.get_linear_cache(1)
            assert difference(state.memory, memory) < 1e-5 * memory.abs().max()
            return
        kept = cache.layers[0]
        assert difference(state.inputs.mT, kept.conv_states[0][..., 1:]) < 1e-5
        if self.layer is not ShortConv:
            (memory,) = kept.recurrent_states.values()
            memory = memory.mT if self.layer is Mamba2 else memory
            assert difference(state.memory, memory) < 1e-5


def delta(stored: Weights, spec: GatedDeltaSpec) -> Weights:
    if "in_proj_qkvz.weight" in stored:
        stored = stored | ungrouped(stored)
    if "o_norm.weight" in stored:
        parts = [stored[f"{part}_proj.weight"] for part in "qkv"]
        stored = stored | {"in_proj_qkv.weight": torch.cat(parts)}
        names = {"a_proj": "in_proj_a", "b_proj": "in_proj_b", "g_proj": "in_proj_z"}
        names |= {"o_proj": "out_proj", "o_norm": "norm"}
        stored |= {f"{new}.weight": stored[f"{old}.weight"] for old, new in names.items()}
    return {
        "input_proj.weight": stored["in_proj_qkv.weight"],
        "conv_weight": stored["conv1d.weight"][:, 0],
        "decay_proj.weight": stored["in_proj_a.weight"],
        "decay_rate": stored["A_log"],
        "decay_bias": stored["dt_bias"],
        "beta_proj.weight": stored["in_proj_b.weight"],
        "gate_proj.weight": stored["in_proj_z.weight"],
        "norm.weight": stored["norm.weight"],
        "output_proj.weight": stored["out_proj.weight"],
    }


def ungrouped(stored: Weights) -> Weights:
    """Qwen3-Next stores rows by key head: query, key, then the values and gates that share it."""
    shared = HEADS // KEY_HEADS
    rows = stored["in_proj_qkvz.weight"].unflatten(0, (KEY_HEADS, -1))
    sizes = [KEY, KEY, shared * DIM, shared * DIM]
    query, key, value, gate = (part.flatten(0, 1) for part in rows.split(sizes, dim=1))
    rows = stored["in_proj_ba.weight"].unflatten(0, (KEY_HEADS, -1))
    beta, decay = (part.flatten(0, 1) for part in rows.split([shared, shared], dim=1))
    return {
        "in_proj_qkv.weight": torch.cat([query, key, value]), "in_proj_z.weight": gate,
        "in_proj_b.weight": beta, "in_proj_a.weight": decay,
    }  # fmt: skip


def kimi(stored: Weights, spec: KimiDeltaSpec) -> Weights:
    weights = {
        "input_proj.weight": torch.cat([stored[f"{part}_proj.weight"] for part in "qkv"]),
        "conv_weight": stored["conv1d.weight"][:, 0],
        "decay_rate": stored["forget_gate.A_log"].flatten(),
        "decay_bias": stored["forget_gate.dt_bias"].view(spec.num_heads, spec.head_dim),
        "beta_proj.weight": stored["b_proj.weight"],
        "norm.weight": stored["o_norm.weight"],
        "output_proj.weight": stored["o_proj.weight"],
    }
    for new, old in {"decay_proj": "forget_gate.f", "gate_proj": "g"}.items():
        if f"{old}_proj.weight" in stored:
            weights[f"{new}.weight"] = stored[f"{old}_proj.weight"]
        else:
            weights[f"{new}.0.weight"] = stored[f"{old}_a_proj.weight"]
            weights[f"{new}.1.weight"] = stored[f"{old}_b_proj.weight"]
    return weights


def mamba(stored: Weights, spec: Mamba2Spec) -> Weights:
    weights = {
        "conv_weight": stored["conv1d.weight"][:, 0], "step_bias": stored["dt_bias"],
        "decay_rate": stored["A_log"], "skip": stored["D"],
    }  # fmt: skip
    if spec.conv_bias:
        weights["conv_bias"] = stored["conv1d.bias"]
    if spec.norm != "none":
        weights["norm.weight"] = stored["norm.weight"]
    for kind in ("weight", "bias")[: 1 + spec.bias]:
        rows = stored[f"in_proj.{kind}"].split([spec.inner_dim, spec.channels, spec.num_heads])
        names = "gate_proj", "input_proj", "step_proj"
        weights |= {f"{new}.{kind}": part for new, part in zip(names, rows, strict=True)}
        weights[f"output_proj.{kind}"] = stored[f"out_proj.{kind}"]
    return weights


def lightning(stored: Weights, spec: LightningSpec) -> Weights:
    """The library's rows lie by heads: query, key and value of each."""
    rows = stored["qkv_proj.weight"].view(spec.num_heads, 3, spec.head_dim, WIDTH)
    return {
        "qkv_proj.weight": rows.transpose(0, 1).flatten(0, 2),
        "gate_proj.weight": stored["output_gate.weight"],
        "norm.weight": stored["norm.weight"],
        "output_proj.weight": stored["out_proj.weight"],
    }


def convolution(stored: Weights, spec: ShortConvSpec) -> Weights:
    weights = {"conv_weight": stored["conv.weight"][:, 0]}
    for kind in ("weight", "bias")[: 1 + spec.bias]:
        weights[f"input_proj.{kind}"] = stored[f"in_proj.{kind}"]
        weights[f"output_proj.{kind}"] = stored[f"out_proj.{kind}"]
    if spec.bias:
        weights["conv_bias"] = stored["conv.bias"]
    return weights


_DELTA_SIZES = {
    "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
    "linear_num_key_heads": KEY_HEADS, "linear_num_value_heads": HEADS, "linear_key_head_dim": KEY,
    "linear_value_head_dim": DIM, "linear_conv_kernel_dim": KERNEL,
    "layer_types": ["linear_attention", "full_attention"],
}  # fmt: skip
_LINEAR = {
    "num_hidden_layers": 1, "layer_types": ["linear_attention"], "mlp_layer_types": ["dense"],
    "linear_num_heads": KEY_HEADS, "linear_head_dim": EACH, "linear_conv_kernel_dim": KERNEL,
}  # fmt: skip
_LING = {
    "num_hidden_layers": 1, "layer_types": ["linear_attention"], "mlp_layer_types": ["dense"],
    "head_dim": EACH, "num_attention_heads": KEY_HEADS, "short_conv_kernel_size": KERNEL,
}  # fmt: skip
_MAMBA = {
    "mamba_n_heads": HEADS, "mamba_d_head": DIM, "mamba_n_groups": KEY_HEADS,
    "mamba_d_state": STATE, "mamba_d_conv": KERNEL, "mamba_chunk_size": 8,
    "num_attention_heads": 2, "num_key_value_heads": 1, "num_hidden_layers": 1,
}  # fmt: skip
_FALCON = {**_MAMBA, "mamba_d_ssm": HEADS * DIM}


def delta_layer(name: str, options: dict[str, Any] | None = None, **spec: Any) -> Reference:
    folder, _, camel = name.partition("/")
    config = f"{camel}TextConfig" if folder in ("qwen3_5", "qwen4_exp") else f"{camel}Config"
    their = f"{camel}TextGatedDeltaNet" if folder == "qwen4_exp" else f"{camel}GatedDeltaNet"
    return Reference(
        GatedDelta, GatedDeltaSpec(KEY_HEADS, HEADS, KEY, DIM, KERNEL, **spec), delta,
        folder, config, their, {**_DELTA_SIZES, **(options or {})},
    )  # fmt: skip


def kimi_layer(
    folder: str, config: str, their: str, options: dict[str, Any], *, norm_eps: float = 1e-5,
    ranks: bool = True, floor: float | None = None,
) -> Reference:  # fmt: skip
    rank = EACH if ranks else None
    spec = KimiDeltaSpec(KEY_HEADS, EACH, KERNEL, rank, rank, floor, norm_eps)
    return Reference(KimiDelta, spec, kimi, folder, config, their, options)


def mamba_layer(
    folder: str, config: str, their: str, options: dict[str, Any], **spec: Any
) -> Reference:
    made = Mamba2Spec(HEADS, DIM, KEY_HEADS, STATE, KERNEL, **spec)
    return Reference(Mamba2, made, mamba, folder, config, their, options)


GLM = "glm5_next", "Glm5NextTextConfig", "Glm5NextTextLinearAttention"
LING = "bailing_hybrid", "BailingHybridConfig", "BailingHybridDeltaAttention"
FALCON = "falcon_h1", "FalconH1Config", "FalconH1Mixer"
REFERENCES = {
    "qwen3_next": delta_layer("qwen3_next/Qwen3Next"),
    "qwen3_5": delta_layer("qwen3_5/Qwen3_5"),
    "olmo_hybrid": delta_layer("olmo_hybrid/OlmoHybrid", max_beta=2.0, norm_eps=1e-5),
    "qwen4_exp": delta_layer(
        "qwen4_exp/Qwen4Exp", {"output_gate_type": "sigmoid"}, gate="sigmoid"
    ),
    "kimi_linear": kimi_layer(
        "kimi_linear", "KimiLinearConfig", "KimiLinearDeltaAttention", _LINEAR
    ),
    "glm5_next": kimi_layer(*GLM, {**_LINEAR, "linear_lower_bound": FLOOR}, floor=FLOOR),
    "glm5_next, no floor": kimi_layer(*GLM, {**_LINEAR, "linear_lower_bound": None}),
    "bailing_hybrid": kimi_layer(
        *LING, {**_LING, "kda_lower_bound": FLOOR}, norm_eps=1e-6, ranks=False, floor=FLOOR
    ),
    "bailing_hybrid, no floor": kimi_layer(
        *LING, {**_LING, "kda_safe_gate": False}, norm_eps=1e-6, ranks=False
    ),
    "mamba2": mamba_layer(
        "mamba2", "Mamba2Config", "Mamba2Mixer",
        {"head_dim": DIM, "n_groups": KEY_HEADS, "chunk_size": 8, "num_hidden_layers": 1,
         "num_heads": HEADS, "state_size": STATE, "conv_kernel": KERNEL,
         "layer_norm_epsilon": 1e-5},
        norm_eps=1e-5,
    ),
    "nemotron_h": mamba_layer(
        "nemotron_h", "NemotronHConfig", "NemotronHMamba2Mixer",
        {"mamba_num_heads": HEADS, "mamba_head_dim": DIM, "n_groups": KEY_HEADS,
         "ssm_state_size": STATE, "conv_kernel": KERNEL, "chunk_size": 8,
         "layers_block_type": ["linear_attention"], "time_step_min": 0.5},
        norm_eps=1e-5, least_step=0.5,
    ),
    "bamba": mamba_layer(
        "bamba", "BambaConfig", "BambaMixer", {**_MAMBA, "mamba_conv_bias": False},
        norm_eps=1e-5, conv_bias=False,
    ),
    "granitemoehybrid": mamba_layer(
        "granitemoehybrid", "GraniteMoeHybridConfig", "GraniteMoeHybridMambaLayer",
        {**_MAMBA, "layer_types": ["mamba"], "mamba_proj_bias": True}, bias=True,
    ),
    "falcon_h1": mamba_layer(*FALCON, _FALCON, norm="none"),
    "falcon_h1, norm before": mamba_layer(
        *FALCON, {**_FALCON, "mamba_rms_norm": True}, norm="before_gate", norm_eps=1e-5
    ),
    "falcon_h1, norm after": mamba_layer(
        *FALCON, {**_FALCON, "mamba_rms_norm": True, "mamba_norm_before_gate": False},
        norm_eps=1e-5,
    ),
    "zamba2": mamba_layer(
        "zamba2", "Zamba2Config", "Zamba2MambaMixer",
        {"mamba_d_state": STATE, "mamba_d_conv": KERNEL, "mamba_expand": 2,
         "mamba_ngroups": KEY_HEADS, "n_mamba_heads": HEADS, "num_hidden_layers": 1,
         "layers_block_type": ["mamba"], "num_attention_heads": 2, "num_key_value_heads": 2,
         "chunk_size": 8, "time_step_min": 0.5},
        norm_eps=1e-5, least_step=0.5,
    ),
    "minimax": Reference(
        Lightning,
        LightningSpec(KEY_HEADS, EACH, slope_scale=1 - 1 / (LAYERS - 1 + 1e-5) + 1e-5),
        lightning, "minimax", "MiniMaxConfig", "MiniMaxLightningAttention",
        {"num_hidden_layers": LAYERS, "head_dim": EACH, "num_attention_heads": KEY_HEADS,
         "num_key_value_heads": 1, "block_size": 7, "layer_types": ["linear_attention"] * LAYERS},
    ),
    **{
        f"lfm2, {kernel} wide": Reference(
            ShortConv, ShortConvSpec(WIDTH, kernel, bias), convolution, "lfm2", "Lfm2Config",
            "Lfm2ShortConv",
            {"num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1,
             "conv_L_cache": kernel, "conv_bias": bias, "layer_types": ["conv"]},
        )
        for kernel, bias in ((3, False), (4, True), (1, False))
    },
}  # fmt: skip
FIRST = ("qwen3_next", "kimi_linear", "mamba2", "minimax", "lfm2, 3 wide")
"""One for each of our layers; the others are held to the library in the long run of tests."""
CLAMPED = ("nemotron_h", "zamba2")
first = pytest.mark.parametrize("name", FIRST)
every = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in FIRST else pytest.mark.slow) for name in REFERENCES],
)


def layer_of(name: str) -> Any:
    reference = REFERENCES[name]
    return reference.ours(reference.theirs()[1])


@every
def test_equals_the_reference_and_keeps_what_it_caches(name: str) -> None:
    reference = REFERENCES[name]
    _, layer = reference.theirs()
    ours = reference.ours(layer)
    for length in (1, 5, 63, 131):
        x = tokens(length, WIDTH)
        with torch.no_grad():
            wanted, (actual, _) = reference.read(layer, x), ours(x)
        assert wanted.abs().max() > 0.1
        bound = 5e-5 if length > 63 and reference.layer is KimiDelta else 1e-5
        assert difference(actual, wanted) < bound * max(1, wanted.abs().max())
    for length in (1, 2, 5, 63) if name != "lfm2, 1 wide" else ():  # which keeps nothing
        config, layer = reference.theirs()
        check_cache(
            partial(reference.read, layer), reference.cache(config), reference.ours(layer),
            tokens(length + 1, WIDTH), reference.same,
            steps_alike=name not in CLAMPED,  # whose step of one token has no bound
        )  # fmt: skip


@every
def test_counts_the_bytes_of_a_cache_in_half_precision(name: str) -> None:
    reference = REFERENCES[name]
    config, layer = reference.theirs()
    cache = reference.cache(config)
    reference.read(layer.bfloat16(), tokens(5, WIDTH).bfloat16(), cache)
    keeps = reference.spec.keeps()
    assert count_bytes(cache) == bytes_kept(keeps, 5, batch_size=2, itemsize=2)
    assert bytes_kept(keeps, 0) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in REFERENCES if "kimi" in name or "gl" in name])
def test_beyond_a_chunk_the_reference_rounds_more(name: str) -> None:
    """It subtracts sums of logarithms from one another, where ours multiplies factors."""
    _, layer = REFERENCES[name].theirs()
    made, x = REFERENCES[name].ours(layer), tokens(131, WIDTH)
    with torch.no_grad():
        theirs, (output, _) = layer(x), made(x)
        exact, _ = made.double()(x.double())
    assert difference(output, exact) < 1e-5
    assert difference(output, exact) < difference(theirs, exact) < 5e-5


@pytest.mark.parametrize(
    "name", [*FIRST, "olmo_hybrid", "bailing_hybrid", "falcon_h1, norm before"]
)
def test_pieces_equal_the_whole(name: str) -> None:
    check_pieces(layer_of(name), tokens(7, WIDTH))


@first
def test_pieces_equal_the_whole_beyond_a_chunk(name: str) -> None:
    layer, x = layer_of(name).double(), tokens(131, WIDTH).double()
    whole, last = layer(x)
    for cut in (1, 63, 64, 65, 130):
        before, state = layer(x[:, :cut])
        after, end = layer(x[:, cut:], state)
        torch.testing.assert_close(torch.cat([before, after], 1), whole)
        torch.testing.assert_close(tuple(end), tuple(last))


@first
def test_the_future_changes_no_past_and_the_past_is_read(name: str) -> None:
    layer, x = layer_of(name), tokens(11, WIDTH)
    later, earlier = x.clone(), x.clone()
    later[:, 5:] += 1
    earlier[:, 0] += 1
    output, other = layer(x)[0], layer(later)[0]
    assert torch.equal(output[:, :5], other[:, :5])
    assert (output[:, 5:] != other[:, 5:]).any()
    assert (output[:, 1] != layer(earlier)[0][:, 1]).any()


@pytest.mark.parametrize("name", [*FIRST, "bailing_hybrid", "falcon_h1", "falcon_h1, norm before"])
def test_all_weights_and_inputs_get_gradients(name: str) -> None:
    layer, x = REFERENCES[name].layer(WIDTH, REFERENCES[name].spec), tokens(67, WIDTH)
    x.requires_grad_()
    output, state = layer(x)
    (output.square().sum() + sum(part.square().sum() for part in state)).backward()
    for part, tensor in [("x", x), *layer.named_parameters()]:
        assert tensor.grad.isfinite().all(), part
        assert tensor.grad.abs().max() > 0, part


def test_all_may_be_forgotten() -> None:
    for name in ["qwen3_next", "kimi_linear"]:
        layer = REFERENCES[name].layer(WIDTH, REFERENCES[name].spec)
        torch.nn.init.constant_(layer.decay_rate, 9.0)
        torch.nn.init.constant_(layer.decay_bias, 99.0)
        output, _ = layer(tokens(67, WIDTH))
        output.sum().backward()
        assert output.isfinite().all()
        assert all(weight.grad.isfinite().all() for weight in layer.parameters())


@pytest.mark.parametrize("name", ["olmo_hybrid", "mamba2", "minimax"])
def test_half_precision_keeps_its_dtype_and_a_wide_memory(name: str) -> None:
    layer = layer_of(name)
    with torch.no_grad():
        wide, _ = layer(tokens(7, WIDTH))
        output, state = layer.bfloat16()(tokens(7, WIDTH).bfloat16())
    assert (output.dtype, state.memory.dtype) == (torch.bfloat16, torch.float32)
    assert difference(output.float(), wide) < 0.1 * wide.abs().max()


@pytest.mark.parametrize("name", CLAMPED)
def test_a_reference_forgets_its_least_step_when_it_goes_token_by_token(name: str) -> None:
    config, layer = REFERENCES[name].theirs()
    cache, x = dynamic_cache(config), tokens(6, WIDTH)
    with torch.no_grad():
        whole = layer(x)
        layer(x[:, :5], cache_params=cache)
        assert difference(layer(x[:, 5:], cache_params=cache), whole[:, 5:]) > 1e-3


def test_every_channel_forgets_by_itself() -> None:
    layer = layer_of("kimi_linear")
    with torch.no_grad():
        _, one = layer(tokens(5, WIDTH))
        layer.decay_bias[0, 0] += 1
        _, other = layer(tokens(5, WIDTH))
    assert (one.memory[:, 0, 0] != other.memory[:, 0, 0]).all()
    assert torch.equal(one.memory[:, 1:], other.memory[:, 1:])


@first
def test_other_tokens_and_the_state_of_another_batch_are_refused(name: str) -> None:
    layer = layer_of(name)
    with pytest.raises(ValueError, match=r"^x: got embed_dim = 11"):
        layer(tokens(5, 11))
    _, state = layer(tokens(5, WIDTH))
    with pytest.raises(ValueError, match=r"^state: got one of b = 2, wanted 3 as in x"):
        layer(tokens(5, WIDTH, batch=3), state)


def test_shapes_that_cannot_be_are_refused() -> None:
    cases: list[Any] = [
        (lambda: GatedDeltaSpec(4, 6, 5, 7), "num_key_heads: got 4, wanted a divisor of num_value"),
        (lambda: GatedDeltaSpec(3, 6, 5, 7, max_beta=3.0), "max_beta: got 3"),
        (lambda: KimiDeltaSpec(3, 5, decay_floor=1.0), "decay_floor: got 1"),
        (lambda: Mamba2Spec(6, 5, 4, 7), "num_groups: got 4, wanted a divisor of num_heads, 6"),
        (lambda: LightningSpec(3, 5, slope_scale=-1.0), "slope_scale: got -1"),
        (lambda: ShortConvSpec(3, 0), "conv_width: got 0"),
    ]
    for spec, message in cases:
        with pytest.raises(ValueError, match=f"^{message}"):
            spec()
