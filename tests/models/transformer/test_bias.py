"""Distances in the scores: against loops, against T5 and BLOOM, and with caches."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from companion.masks import padding_mask
from companion.models.transformer import (
    Decoder,
    Embedding,
    Encoder,
    LanguageModel,
    Transformer,
    TransformerConfig,
)
from companion.positions import alibi_bias
from tests.models.transformer.test_blocks import draw
from tests.transformers import VARIANTS, config_of, randomised

BIASED = ("bloom", "t5")
B, N, E, H = 2, 7, 12, 6
IDS = torch.tensor([[4, 5, 6, 7, 8, 9, 3], [9, 10, 11, 4, 4, 12, 13]])


def test_caches_of_unequal_lengths_are_one_pass_at_every_split() -> None:
    for variant in BIASED:
        decoder = randomised(Decoder(config_of(variant)))
        x = draw(B, N, E)
        whole = decoder(x).hidden
        for first in range(N):
            for second in range(N):
                lengths = torch.tensor([first, second])
                caches = decoder.make_caches(B, max(first, second) + 1)
                with torch.no_grad():
                    decoder(x[:, : max(first, second)], caches=caches, lengths=lengths)
                    step = decoder(x[torch.arange(B), lengths][:, None], caches=caches).hidden
                torch.testing.assert_close(step[:, 0], whole[torch.arange(B), lengths])


def test_alibi_of_an_encoder_looks_both_ways() -> None:
    """The decoder's is BLOOM's; T5 has both of its."""
    config, x = config_of("bloom"), draw(B, N, E)
    encoder = randomised(Encoder(config))
    plain = randomised(Encoder(replace(config, positions="none")))
    bias = alibi_bias(H, N, like=x)
    torch.testing.assert_close(encoder(x).hidden, plain(x, mask=bias).hidden)


def test_a_mask_of_numbers_is_added() -> None:
    for variant in BIASED:
        encoder, x = randomised(Encoder(config_of(variant))), draw(B, N, E)
        allowed = padding_mask(torch.tensor([4, 7]), N)[:, None]
        added = torch.zeros(allowed.shape, dtype=torch.float64).masked_fill(~allowed, -math.inf)
        expected = encoder(x, mask=allowed).hidden
        torch.testing.assert_close(encoder(x, mask=added).hidden[0, :4], expected[0, :4])
        torch.testing.assert_close(encoder(x, mask=added).hidden[1], expected[1])


def test_half_precision_and_autocast_are_near() -> None:
    for variant in VARIANTS:
        model = randomised(LanguageModel(config_of(variant)), dtype=torch.float32, std=0.2)
        expected = model(IDS)[:, 3]
        bound = 0.05 * expected.detach().abs().max()
        with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
            assert model(IDS).dtype == torch.bfloat16
            state = model.start(IDS[:, :4], max_len=3)
            logits = model.step(state.last, state).logits
        assert (logits.float() - expected).abs().max() < bound
        half = model.to(torch.bfloat16)(IDS)
        assert half.dtype == torch.bfloat16
        assert (half[:, 3].float() - expected).abs().max() < bound


def libraries_model(name: str, config: str, **options: Any) -> Any:
    """A model of Hugging Face's with drawn weights, in float64."""
    transformers: Any = pytest.importorskip("transformers")
    made = getattr(transformers, name)(getattr(transformers, config)(**options))
    return randomised(made, std=0.3)


def test_t5_agrees() -> None:
    """Encoder and decoder, whose scores T5 does not scale: our queries are sqrt(d) larger."""
    theirs = libraries_model(
        "T5Model", "T5Config", vocab_size=19, d_model=E, d_kv=2, num_heads=H, d_ff=17,
        num_layers=3, num_decoder_layers=2, relative_attention_num_buckets=8,
        relative_attention_max_distance=11, dropout_rate=0.0, pad_token_id=0,
    )  # fmt: skip
    config = config_of(
        "t5", relative_buckets=8, relative_max_distance=11, encoder_layers=3, norm_eps=1e-6
    )
    ours: Any = Transformer(config).double().eval()
    stored = theirs.state_dict()
    weights = {"target_embedding.words.weight": stored["shared.weight"]}
    weights["source_embedding.words.weight"] = stored["shared.weight"]
    for stack in ("encoder", "decoder"):
        first = f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        weights[f"{stack}.score_bias.table.weight"] = stored[first]
        weights[f"{stack}.norm.weight"] = stored[f"{stack}.final_layer_norm.weight"]
        for number in range(3 if stack == "encoder" else 2):
            theirs_at = f"{stack}.block.{number}.layer"
            weights |= t5_block(stored, theirs_at, f"{stack}.blocks.{number}", stack == "decoder")
    ours.load_state_dict(weights)

    source, target = torch.randint(1, 19, (2, 3, 21)).unbind()
    target, lengths = target[:, :17], torch.tensor([21, 9, 1])
    there = padding_mask(lengths, 21)[:, 0]
    expected = theirs(
        input_ids=source, attention_mask=there.long(), decoder_input_ids=target
    ).last_hidden_state
    encoded = ours.encode(source, lengths)
    actual = ours.decoder(
        ours.target_embedding(target), encoded.memories, memory_mask=encoded.mask
    ).hidden
    torch.testing.assert_close(actual, expected)


def t5_block(stored: Any, theirs: str, ours: str, cross: bool) -> dict[str, Tensor]:
    """A block of T5's under our names."""
    attentions = {"self": f"{theirs}.0.SelfAttention"}
    if cross:
        attentions["cross"] = f"{theirs}.1.EncDecAttention"
    weights = {}
    for number, (kind, at) in enumerate(attentions.items()):
        weights[f"{ours}.{kind}_residual.norm.weight"] = stored[
            f"{theirs}.{number}.layer_norm.weight"
        ]
        for name, letter in {"query": "q", "key": "k", "value": "v", "output": "o"}.items():
            factor = math.sqrt(2) if letter == "q" else 1.0
            weights[f"{ours}.{kind}_attention.{name}_proj.weight"] = (
                factor * stored[f"{at}.{letter}.weight"]
            )
    last = f"{theirs}.{len(attentions)}"
    weights[f"{ours}.feed_forward_residual.norm.weight"] = stored[f"{last}.layer_norm.weight"]
    for name, letters in {"up": "wi", "down": "wo"}.items():
        weights[f"{ours}.feed_forward.{name}_proj.weight"] = stored[
            f"{last}.DenseReluDense.{letters}.weight"
        ]
    return weights


def test_bloom_agrees() -> None:
    """BLOOM writes slope times the key's position: the same under a causal mask."""
    theirs = libraries_model(
        "BloomModel", "BloomConfig", vocab_size=19, hidden_size=E, n_layer=2, n_head=H
    )
    config = TransformerConfig(
        vocab_size=19, embed_dim=E, num_heads=H, positions="alibi", embedding_norm=True,
        activation="gelu_tanh", attention_bias=True, embedding_scale=False, dropout_p=0.0,
    )  # fmt: skip
    embedding, decoder = Embedding(config).double(), Decoder(config).double()
    embedding.load_state_dict(
        {
            "words.weight": theirs.word_embeddings.weight,
            "norm.weight": theirs.word_embeddings_layernorm.weight,
            "norm.bias": theirs.word_embeddings_layernorm.bias,
        }
    )
    weights = {"norm.weight": theirs.ln_f.weight, "norm.bias": theirs.ln_f.bias}
    for number, block in enumerate(theirs.h):
        at = f"blocks.{number}"
        modules = {
            "self_residual.norm": block.input_layernorm,
            "self_attention.output_proj": block.self_attention.dense,
            "feed_forward_residual.norm": block.post_attention_layernorm,
            "feed_forward.up_proj": block.mlp.dense_h_to_4h,
            "feed_forward.down_proj": block.mlp.dense_4h_to_h,
        }
        for name, module in modules.items():
            weights |= {f"{at}.{name}.{kind}": w for kind, w in module.named_parameters()}
        fused = block.self_attention.query_key_value
        for kind in ("weight", "bias"):
            heads = getattr(fused, kind).reshape(H, 3, 2, -1)
            for part, name in enumerate(("query", "key", "value")):
                shape = (E, E) if kind == "weight" else (E,)
                weights[f"{at}.self_attention.{name}_proj.{kind}"] = heads[:, part].reshape(shape)
    decoder.load_state_dict(weights)
    expected = theirs(IDS).last_hidden_state
    torch.testing.assert_close(decoder(embedding(IDS)).hidden, expected)
