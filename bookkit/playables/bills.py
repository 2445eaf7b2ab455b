"""The bill of a text: what each part of a model computes, by the length of the text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from bookkit.playables.calculator import published
from bookkit.playables.playable import Playable, playable

if TYPE_CHECKING:
    from companion.cost import AttentionFlops

LENGTHS = (*(size << power for power in range(3, 19) for size in (2, 3)), 2**20)
"""The lengths to choose from, in tokens: powers of two, and those in the middle between them."""

WIDTHS = tuple(2**power for power in range(8, 15))
"""The widths e to choose from."""

PAGE = 500
"""Tokens of a page of text, roughly."""


@cache
def layers_of(name: str) -> list[dict[str, Any]]:
    """Return what the layers of a published model compute, those together that are alike.

    Of each kind of layer: how many there are, the operations of a token in the products with the
    weights of attention and with all others, those of one pair of a query and a key in all heads,
    and the window, None where there is none. The scores of the next word are left out.

    Args:
        name: GPT-2, or a published model of the atlas whose layers all have a softmax.

    >>> layers_of("Llama 3.1 8B")[0]["pair"] == 4 * 4096
    True
    """
    from companion.cost import feed_forward_flops, layer_weights, multi_head_flops
    from companion.models.atlas import AttentionSpec, read_config

    file = published()[name]
    if file["model_type"] == "gpt2":  # of which the atlas knows only what it keeps
        e, h, count = file["n_embd"], file["n_head"], file["n_layer"]
        feed = feed_forward_flops(e, 4 * e, tokens=1)
        return [_costs(count, multi_head_flops(e, h, q_len=1), feed)]
    spec = read_config(file)
    found = []
    for at, layer in enumerate(spec.layers):
        mixer = layer.mixer
        if not isinstance(mixer, AttentionSpec):
            raise ValueError(f"name: got {name}, wanted a model whose layers all have a softmax")
        if layer not in spec.layers[:at]:
            one = multi_head_flops(
                spec.embed_dim, mixer.num_heads, q_len=1,
                num_kv_heads=mixer.num_kv_heads, head_dim=mixer.head_dim,
            )  # fmt: skip
            rest = 2 * layer_weights(spec.embed_dim, layer) - one.projections
            found.append(_costs(spec.layers.count(layer), one, rest, mixer.window))
    return found


def _costs(
    count: int, attention: AttentionFlops, feed: int, window: int | None = None
) -> dict[str, Any]:
    pair = attention.scores + attention.blend
    return {
        "count": count, "projections": attention.projections, "feed": feed, "pair": pair,
        "window": window,
    }  # fmt: skip


def text_bill(models: Sequence[str], *, caption: str = "") -> Playable:
    """Show what a text costs, part by part; a reader drags its length and chooses the model.

    The first entry of the menu is one plain block with a feed-forward layer of 4 e, whose width e
    can be chosen.

    Args:
        models: names that `layers_of` knows.

    >>> text_bill(["GPT-2"])
    The bill of a text: a drawing to play with.
    """
    plain: dict[str, Any] = {"name": "One plain block", "layers": None}
    return playable(
        "text-bill", "The bill of a text", caption=caption, lengths=LENGTHS, widths=WIDTHS,
        width=WIDTHS.index(4096), length=LENGTHS.index(1024), page=PAGE,
        models=[plain, *({"name": name, "layers": layers_of(name)} for name in models)],
    )  # fmt: skip
