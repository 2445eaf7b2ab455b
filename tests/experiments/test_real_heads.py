"""Heads of a real model, taken away and changed: held against hooks and masks on a small one."""

import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from companion import scaled_dot_product_attention
from companion.models.transformer import LanguageModel, TransformerConfig
from experiments.real_heads.heads import mean_outputs, predicted
from experiments.real_heads.study import CHANGES, Item, answers

HEADS = 4


def small() -> LanguageModel:
    config = TransformerConfig(
        vocab_size=53, embed_dim=24, num_heads=HEADS, num_kv_heads=2, num_layers=3,
        positions="rotary", norm="rms", activation="silu", gated=True, embedding_scale=False,
    )  # fmt: skip
    torch.manual_seed(3)
    return LanguageModel(config).eval()


@torch.no_grad()
def test_what_is_left_without_heads_is_what_hooks_give() -> None:
    model, tokens = small(), torch.arange(5, 18)
    means = mean_outputs(model, tokens[None])
    groups = {"none": [], "low": [(0, 1)], "both": [(2, 0), (1, 3)], "high": [(2, 2)]}
    base = [(0, 3), (2, 1)]
    found = predicted(model, tokens, groups, means, first=4, base=base)
    for name, heads in groups.items():
        handles = []
        for index, block in enumerate(model.decoder.blocks):
            gone = [head for layer, head in [*heads, *base] if layer == index]

            def replace(
                _: object, given: tuple[Tensor], gone: list[int] = gone, index: int = index
            ) -> tuple[Tensor]:
                parts = given[0].view(*given[0].shape[:-1], HEADS, -1).clone()
                parts[..., gone, :] = means[index][gone]
                return (parts.flatten(-2),)

            projection = block.get_submodule("self_attention.output_proj")
            handles.append(projection.register_forward_pre_hook(replace))
        logits = model(tokens[None])[0, 3:-1]
        for handle in handles:
            handle.remove()
        right = 100 * (logits.argmax(-1) == tokens[4:]).double().mean()
        torch.testing.assert_close(
            torch.tensor(found[name]), torch.stack((cross_entropy(logits, tokens[4:]), right)),
            check_dtype=False,
        )  # fmt: skip


@torch.no_grad()
def test_weights_of_the_last_token_alone_are_changed() -> None:
    model, context = small(), torch.arange(5, 18)
    item = Item(context, 7, copies=[2, 6], others=[3, 4])
    said = dict(zip(CHANGES, answers(model, item, Generator()), strict=True))

    def masked(*places: int) -> Tensor:
        def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
            mask = mask.clone()
            mask[-1, list(places)] = False
            return scaled_dot_product_attention(query, key, value, mask)

        return model.with_attention(attention)(context[None])[0, -1]

    for name, places in {
        "none": [], "first": [0], "copies": item.copies, "elsewhere": item.others
    }.items():  # fmt: skip
        torch.testing.assert_close(said[name], masked(*places))
    assert not torch.allclose(said["top"], said["sized"])
