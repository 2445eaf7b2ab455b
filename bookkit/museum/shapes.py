"""Shapes that agree by luck, and the scale that belongs to one of them."""

import math

import torch
from torch import Tensor, nn

from bookkit.museum.exhibit import Exhibit, normal_numbers, seeded, two_inputs
from companion.attention import scaled_dot_product_attention
from companion.conformance import check_alone, check_permutation, check_scale
from companion.layers import MultiHeadAttention

HEADS = 4


def scaled_by_the_model(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attend in heads (b, h, n, d), with the width of all heads under the root."""
    model_width = query.shape[1] * query.shape[-1]
    return torch.softmax(query @ key.mT / math.sqrt(model_width), -1) @ value


def words_first(x: Tensor) -> Tensor:
    """Give (b, n, e) to a layer whose first axis is n, unless it is told otherwise."""
    layer = seeded(lambda: nn.MultiheadAttention(x.shape[-1], 2))
    output: Tensor = layer(x, x, x, need_weights=False)[0]
    return output


def heads_by_a_view(x: Tensor) -> Tensor:
    """Attend in heads that a view cuts out of (b, n, e)."""
    b, n, e = x.shape
    heads = x.view(b, HEADS, n, e // HEADS)
    return scaled_dot_product_attention(heads, heads, heads).view(b, n, e)


def heads_by_a_transpose(x: Tensor) -> Tensor:
    """Attend in heads, as the package's layer cuts them, with no weights to learn."""
    layer = seeded(lambda: MultiHeadAttention(x.shape[-1], HEADS))
    with torch.no_grad():
        for weight in layer.parameters():
            weight.copy_(torch.eye(len(weight)))
        output: Tensor = layer(x)
    return output


SHAPES = (
    Exhibit(
        "the wrong width", "Scores divided by the root of the model's width, not of the head's",
        broken=scaled_by_the_model, sound=scaled_dot_product_attention,
        check=lambda attend: check_scale(attend, 16, HEADS, like=normal_numbers(1)),
        hint="by the width of the model",
        threads=("karpathy/ng-video-lecture #28", "rasbt/LLMs-from-scratch #443"),
    ),
    Exhibit(
        "the wrong axis", "Words that attend to the other sentences of their batch",
        broken=words_first, sound=lambda x: seeded(lambda: MultiHeadAttention(8, 2))(x),
        check=lambda attend: check_alone(attend, two_inputs(b=3)[0]),
        hint="alone than in its batch",
        threads=("labmlai/annotated_deep_learning_paper_implementations #157 #216 #262",),
    ),
    Exhibit(
        "a view", "Heads cut out of the sentence", broken=heads_by_a_view,
        sound=heads_by_a_transpose,
        check=lambda attend: check_permutation(attend, two_inputs(n=5)[0]),
        hint="a view without a transpose",
        threads=("harvardnlp/annotated-transformer #118", "hyunwoongko/transformer #15",
            "bentrevett/pytorch-seq2seq #148"),
    ),
)  # fmt: skip
