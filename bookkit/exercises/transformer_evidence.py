"""Check functions of the evidence of "The Transformer".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Expected


def check_weights(count: Answer) -> None:
    """Check a count of the weights of the paper's model.

    Args:
        count: `count(words, e, hidden, layers)`: blocks in encoder and decoder each, one matrix
            for both embeddings and the output, biases in the feed-forward layers alone, a norm
            with gain and bias after every sub-layer.
    """

    def expected(words: int, e: int, hidden: int, layers: int) -> Expected:
        attention, products = 4 * e * e, 2 * e * hidden
        biases, norm = e + hidden, 2 * e
        block = 3 * attention + 2 * (products + biases) + 5 * norm
        embedding = words * e
        right = embedding + layers * block
        one_attention, one_matrix = right - layers * attention, right - 3 * layers * e * e
        bare, one_block = right - 2 * layers * biases, embedding + block
        shared = "one matrix serves both embeddings and the output: the words count once, not"
        return right, {
            "the embedding has weights, too": layers * block,
            f"{shared} twice": right + embedding,
            f"{shared} three times": right + 2 * embedding,
            "a block of the decoder has two attentions: itself and the memory": one_attention,
            "the feed-forward layers have biases: hidden of them in the middle, e at the end": bare,
            "every sub-layer has a norm, with e gains and e biases": right - 5 * layers * norm,
            "a norm has e gains and e biases": right - 5 * layers * e,
            "the decoder's block has three sub-layers, so three norms": right - layers * norm,
            "an attention has four matrices: query, key, value, output": one_matrix,
            "there are `layers` blocks in the encoder and as many in the decoder": one_block,
        }

    cases = [(11, 6, 17, 3), (37_000, 512, 2048, 6)]
    otherwise = "count({}, {}, {}, {}): got {got:g}, which is not it"
    answers.check(count, cases, expected, otherwise=otherwise)


def check_orders(pre: Answer, post: Answer) -> None:
    """Check where the norm of a sub-layer stands.

    Args:
        pre: `pre(x, f, norm)`, a residual whose sub-layer reads what is normalised.
        post: `post(x, f, norm)`, a residual that is normalised as a whole.
    """
    x = torch.linspace(-2, 3, 15, dtype=torch.float64).reshape(3, 5) ** 2

    def f(y: Tensor) -> Tensor:
        return 0.3 * y.flip(-1) + 0.1 * y * y

    def norm(y: Tensor) -> Tensor:
        return torch.nn.functional.layer_norm(y, y.shape[-1:])

    before, after, normed = x + f(norm(x)), norm(x + f(x)), norm(x) + f(norm(x))
    shared = {
        "x + norm(f(x)) normalises what the sub-layer gives: neither order": x + norm(f(x)),
        "x does not go around the sub-layer": f(norm(x)),
        "x does not go around the sub-layer, and the norm": norm(f(x)),
        "no norm at all": x + f(x),
    }
    of_pre = shared | {
        "this is the other order, post": after,
        "what goes around is x itself, not norm(x): else no path is free of norms": normed,
    }
    of_post = shared | {
        "this is the other order, pre": before,
        "the sum is normalised, not each of its terms": norm(x) + norm(f(x)),
    }
    answers.compare(answers.called(pre, x, f, norm), before, of_pre, where="pre: ")
    answers.compare(answers.called(post, x, f, norm), after, of_post, where="post: ")
    print("Right.")


def check_torch_masks(masks: Answer) -> None:
    """Check masks for `nn.Transformer`, in which True forbids.

    Args:
        masks: `masks(lengths, k, q)`, from the numbers of source words (b,) to the three masks
            `tgt_mask` (q, q), `src_key_padding_mask` (b, k) and `memory_key_padding_mask` (b, k).
    """
    k, q = 7, 5
    lengths = torch.tensor([3, 7, 1])
    padding, late = torch.arange(k) >= lengths[:, None], torch.arange(k) > lengths[:, None]
    later = torch.arange(q) > torch.arange(q)[:, None]
    polarity = "here True forbids; this mask allows where it should forbid"
    of_future = {
        polarity: ~later,
        "the diagonal is forbidden, too: a place may look at itself, or the first sees "
        "nothing": later | torch.eye(q, dtype=torch.bool),
        "the past is forbidden, not the future": later.mT,
    }
    of_padding = {
        polarity: ~padding,
        "one place too few is left out: the last word has number length - 1": late,
    }
    parts = {
        "tgt_mask": (later, of_future),
        "src_key_padding_mask": (padding, of_padding),
        "memory_key_padding_mask": (padding, of_padding),
    }
    answers.compare_parts(answers.called(masks, lengths, k, q), parts, "three masks")
    print("Right.")
