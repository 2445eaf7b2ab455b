"""The exercises of the evidence of "The Transformer"."""

from functools import partial

import torch
from torch import Tensor

from bookkit.exercises.answers import Mistakes
from bookkit.exercises.exercise import Function, Several


def _count(
    words: int, e: int, hidden: int, layers: int, *, matrices: int = 12, biased: int = 2,
    norms: float = 5, embeddings: int = 1,
) -> float:  # fmt: skip
    """Count weights; what a pair of blocks has of each kind may be wrong."""
    products, biases = 2 * 2 * e * hidden, biased * (e + hidden)
    pair = matrices * e * e + products + biases + norms * 2 * e
    return embeddings * words * e + layers * pair


SHARED = "one matrix serves both embeddings and the output: the words count once, not"

check_weights = Function(
    "`count(words, e, hidden, layers)`, the weights of the paper's model: blocks in encoder and "
    "decoder each, one matrix for both embeddings and the output, biases in the feed-forward "
    "layers alone, a norm with gain and bias after every sub-layer.",
    right=lambda *sizes: int(_count(*sizes)), cases=[(11, 6, 17, 3), (37_000, 512, 2048, 6)],
    mistakes={
        "the embedding has weights, too": partial(_count, embeddings=0),
        f"{SHARED} twice": partial(_count, embeddings=2),
        f"{SHARED} three times": partial(_count, embeddings=3),
        "a block of the decoder has two attentions: itself and the memory":
            partial(_count, matrices=8),
        "the feed-forward layers have biases: hidden of them in the middle, e at the end":
            partial(_count, biased=0),
        "every sub-layer has a norm, with e gains and e biases": partial(_count, norms=0),
        "a norm has e gains and e biases": partial(_count, norms=5 / 2),
        "the decoder's block has three sub-layers, so three norms": partial(_count, norms=4),
        "an attention has four matrices: query, key, value, output": partial(_count, matrices=9),
        "there are `layers` blocks in the encoder and as many in the decoder":
            lambda words, e, hidden, layers: _count(words, e, hidden, 1),
    }, otherwise="count({}, {}, {}, {}): got {got:g}, which is not it",
)  # fmt: skip


CASE = (
    torch.linspace(-2, 3, 15, dtype=torch.float64).reshape(3, 5) ** 2,
    lambda y: 0.3 * y.flip(-1) + 0.1 * y * y,
    lambda y: torch.nn.functional.layer_norm(y, y.shape[-1:]),
)
NEITHER: Mistakes = {
    "x + norm(f(x)) normalises what the sub-layer gives: neither order":
        lambda x, f, norm: x + norm(f(x)),
    "x does not go around the sub-layer": lambda x, f, norm: f(norm(x)),
    "x does not go around the sub-layer, and the norm": lambda x, f, norm: norm(f(x)),
    "no norm at all": lambda x, f, norm: x + f(x),
}  # fmt: skip

check_orders = Several(
    "Where the norm of a sub-layer stands.",
    pre=Function(
        "`pre(x, f, norm)`, a residual whose sub-layer reads what is normalised.",
        right=lambda x, f, norm: x + f(norm(x)), cases=[CASE], mistakes={
            **NEITHER,
            "this is the other order, post": lambda x, f, norm: norm(x + f(x)),
            "what goes around is x itself, not norm(x): else no path is free of norms":
                lambda x, f, norm: norm(x) + f(norm(x)),
        },
    ),
    post=Function(
        "`post(x, f, norm)`, a residual that is normalised as a whole.",
        right=lambda x, f, norm: norm(x + f(x)), cases=[CASE], mistakes={
            **NEITHER,
            "this is the other order, pre": lambda x, f, norm: x + f(norm(x)),
            "the sum is normalised, not each of its terms": lambda x, f, norm: norm(x) + norm(f(x)),
        },
    ),
)  # fmt: skip


def _later(lengths: Tensor, k: int, q: int, but: int = 0) -> Tensor:
    return torch.ones(q, q, dtype=torch.bool).triu(1 - but)


def _padding(lengths: Tensor, k: int, q: int, more: int = 0) -> Tensor:
    return torch.arange(k) >= lengths[:, None] + more


POLARITY = "here True forbids; this mask allows where it should forbid"
OF_PADDING: Mistakes = {
    POLARITY: lambda *given: ~_padding(*given),
    "one place too few is left out: the last word has number length - 1": partial(_padding, more=1),
}  # fmt: skip

check_torch_masks = Function(
    "`masks(lengths, k, q)`, masks for `nn.Transformer`, in which True forbids, from the numbers "
    "of source words (b,) to `tgt_mask` (q, q), `src_key_padding_mask` (b, k) and "
    "`memory_key_padding_mask` (b, k).",
    right=lambda *given: (_later(*given), _padding(*given), _padding(*given)),
    cases=[(torch.tensor([3, 7, 1]), 7, 5)], parts={
        "tgt_mask": {
            POLARITY: lambda *given: ~_later(*given),
            "the diagonal is forbidden, too: a place may look at itself, or the first sees "
            "nothing": partial(_later, but=1),
            "the past is forbidden, not the future": lambda *given: _later(*given).mT,
        },
        "src_key_padding_mask": OF_PADDING,
        "memory_key_padding_mask": OF_PADDING,
    }, kind="three masks",
)  # fmt: skip
