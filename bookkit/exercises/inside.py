"""The exercises of "Your attention inside"."""

from typing import Any

import torch
from torch import Tensor

from bookkit import inside
from bookkit.exercises.answers import Answer
from bookkit.exercises.exercise import Function, Several, Value
from companion.masks import causal_mask

check_untouched = Value(
    "The number of the answer that you predict: 1, 2 or 3.", right=2,
    mistakes={
        "while it writes, the newest word is the only query, and no key comes after it": 1,
        "the prompt is read at once, so its words do see later ones, and their keys and values "
        "stay in the cache": 3,
    }, otherwise="got {got:g}, wanted 1, 2 or 3",
)  # fmt: skip

check_sums = Several(
    "By hand: what the weights of a row sum to, if 1 is added below after the shift.",
    one_winner=Value("One key far ahead of all others.", right=0.5, mistakes={
        "the largest power is exp(0) = 1, and the sum below is 1 + 1": 1.0,
        "the other keys have powers of almost 0": 0.0,
    }, atol=0.01),
    nine_equal=Value("Nine keys with equal scores.", right=0.9, mistakes={
        "that is the sum of the powers, which still has to be divided": (9.0, 10.0),
        "1 is added to the sum of the powers, which is 9": 1.0,
        "that is the weight of one key; there are nine": (0.1, 1 / 9),
    }, atol=0.01),
)  # fmt: skip

_DRAW = torch.Generator().manual_seed(34)


def _heads(h: int, n: int) -> Tensor:
    return torch.randn(2, h, n, 4, generator=_DRAW, dtype=torch.float64)


def _case(q: int, k: int) -> list[Any]:
    """Return heads, and a mask that hides nothing: the answer is to make its own."""
    mask = torch.ones(q, k, dtype=torch.bool)
    return [part.numpy() for part in (_heads(6, q), _heads(3, k), _heads(3, k), mask)]


HINTS = {
    "query and key swapped": "the keys ask and the queries answer",
    "no scale": "the scores are not divided by the root of the head's width",
    "softmax over queries": "the softmax runs over the queries: it belongs on the last axis",
    "heads by a view": "the heads that come in are cut already",
    "joined by a view": "the layer joins the heads: return (b, h, q, d) as it is",
    "no mask": "words see later words: nothing masks them",
    "mask upside down": "words see only what comes after them: the mask is upside down",
    "one word too many": "each word sees the next one, too",
    "one word too few": "no word sees itself",
    "1e-9 for -1e9": "a forbidden score is near 0, where it should be minus infinity",
    "masked too late": "the mask comes after the softmax, so later words are in the denominator",
    "first-key corner": "with fewer queries than keys, the last query is at the last key: your "
    "mask begins at the first",
    "scale of the model": "the scale is that of all heads together: divide by the root of the "
    "width of one",
    "key heads tiled": "the key heads are in the order 1 2 3 1 2 3: each serves neighbouring query "
    "heads, 1 1 2 2 3 3",
    "one more below": "1 too much is in the sum below the softmax",
}
"""What is said to a mistake that an answer makes."""


def _masked(attention: inside.Attention) -> Answer:
    """Give an attention the mask that the answer has to make itself."""

    def called(query: Tensor, key: Tensor, value: Tensor, _mask: Tensor) -> Tensor:
        q, k = query.shape[-2], key.shape[-2]
        return attention(query, key, value, causal_mask(q, k, offset=k - q, like=query))

    return called


def _in_numpy(attention: Answer) -> Answer:
    return lambda *arrays: attention(*map(torch.from_numpy, arrays)).numpy()


class _Either(Function):
    """A function of NumPy's arrays, or of PyTorch's tensors if it does not take those."""

    def judge(self, *answers: Any) -> None:
        (answer,) = answers

        def either(*arrays: Any) -> Any:
            try:
                return answer(*arrays)
            except Exception:
                return answer(*map(torch.from_numpy, arrays))

        super().judge(either if callable(answer) else answer)


check_attention = _Either(
    "`whole_attention(query, key, value, mask)`, in NumPy or PyTorch: causal attention from "
    "(b, h, q, d), (b, g, k, d) and (b, g, k, d) to (b, h, q, d), where h / g neighbouring query "
    "heads share a key head, and the last query is at the last key. The mask that comes hides "
    "nothing; make your own.",
    right=_in_numpy(inside.right),
    cases={"a whole text": _case(5, 5), "with a cache": _case(2, 7), "one word": _case(1, 7)},
    mistakes={
        hint: _in_numpy(_masked(inside.MISTAKES[name].attention)) for name, hint in HINTS.items()
    },
    where="{when}: ", axes="(b, h, q, d)", rtol=1e-5, atol=1e-6,
    untouched="it writes into what it is given",
    why="Do the heads fit? Three key heads serve six query heads. And there may be fewer queries "
    "than keys.",
)  # fmt: skip

check_symptom = Value(
    "The name of the mistake, as the button of the game has it.", right="first-key corner",
    mistakes={
        "then the very first step would break: a single query gets weights of 1 on all keys":
            "softmax over queries",
        "a step of writing has one query and no later key, so there is nothing to hide": "no mask",
        "neither the scale nor the heads care whether there is a cache":
            ("no scale", "scale of the model", "key heads tiled"),
    }, otherwise="got {got!r}: would it be right without a cache, and wrong with one?",
)  # fmt: skip
