"""The check functions of "The Transformer": wrong gets the hint at its cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from bookkit.exercises.transformer import (
    check_by_hand,
    check_reversed,
    check_shift,
    check_write,
)
from bookkit.exercises.transformer_evidence import (
    check_orders,
    check_torch_masks,
    check_weights,
)
from companion.cost import count_parameters
from companion.models.transformer import TransformerConfig

Answer = Callable[..., Any]


def count(words: int, e: int, hidden: int, layers: int) -> int:
    """By the package's own formula."""
    config = TransformerConfig(
        vocab_size=words,
        embed_dim=e,
        num_heads=1,
        hidden_dim=hidden,
        num_layers=layers,
        norm_order="post",
        tied="all",
    )
    return count_parameters(config, "encoder_decoder").total


def pre(x: Tensor, f: Answer, norm: Answer) -> Any:
    return f(norm(x)) + x


def post(x: Tensor, f: Answer, norm: Answer) -> Any:
    return norm(f(x) + x)


def shift(sentences: list[list[int]], *, start: int = 1, end: int = 2) -> tuple[Tensor, ...]:
    """Row by row."""
    longest = max(map(len, sentences)) + 1
    rows = [([start, *s], [*s, end]) for s in sentences]
    read, write = (
        torch.tensor([side + [0] * (longest - len(side)) for side in sides])
        for sides in zip(*rows, strict=True)
    )
    return read, write, torch.tensor([[i <= len(s) for i in range(longest)] for s in sentences])


def torch_masks(lengths: Tensor, k: int, q: int) -> tuple[Tensor, ...]:
    padding = torch.stack([torch.arange(k) >= n for n in lengths])
    return torch.ones(q, q, dtype=torch.bool).triu(1), padding, padding


@pytest.mark.parametrize(
    ("check", "answers"),
    [
        (check_weights, (count,)),
        (check_orders, (pre, post)),
        (check_shift, (shift,)),
        (check_shift, (lambda s: list(shift(s)),)),
        (check_torch_masks, (torch_masks,)),
    ],
)
def test_right_answers_pass(
    check: Answer, answers: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    check(*answers)
    assert capsys.readouterr().out == "Right.\n"


def test_the_masks_are_those_that_torch_wants() -> None:
    """Masks that pass make torch's model blind to the future and to padding."""
    torch.manual_seed(3)
    model = nn.Transformer(12, 2, 1, 1, 17, dropout=0.0, batch_first=True).double().train()
    source, target = torch.randn(3, 7, 12).double(), torch.randn(3, 5, 12).double()
    future, padding, memory = torch_masks(torch.tensor([3, 7, 1]), 7, 5)

    def run(source: Tensor, target: Tensor) -> Tensor:
        found: Tensor = model(
            source,
            target,
            tgt_mask=future,
            src_key_padding_mask=padding,
            memory_key_padding_mask=memory,
        )
        return found

    before = run(source, target)
    changed, other = source.clone(), target.clone()
    changed[0, 3:] += 1
    other[:, 3:] += 1
    after = run(changed, other)
    torch.testing.assert_close(after[:, :3], before[:, :3])
    assert (after[:, 3:] - before[:, 3:]).abs().amax(-1).min() > 1e-3


WEIGHTS: list[tuple[Answer, str]] = [
    (lambda w, e, n, m: count(w, e, n, m) - w * e, "the embedding has weights"),
    (lambda w, e, n, m: count(w, e, n, m) + w * e, "not twice"),
    (lambda w, e, n, m: count(w, e, n, m) + 2 * w * e, "not three times"),
    (lambda w, e, n, m: count(w, e, n, m) - 4 * m * e * e, "two attentions"),
    (lambda w, e, n, m: count(w, e, n, m) - 2 * m * (e + n), "have biases"),
    (lambda w, e, n, m: count(w, e, n, m) - 10 * m * e, "every sub-layer has a norm"),
    (lambda w, e, n, m: count(w, e, n, m) - 5 * m * e, "e gains and e biases"),
    (lambda w, e, n, m: count(w, e, n, m) - 2 * m * e, "so three norms"),
    (lambda w, e, n, m: count(w, e, n, m) - 3 * m * e * e, "four matrices"),
    (lambda w, e, n, m: count(w, e, n, 1), "`layers` blocks"),
    (lambda w, e, n, m: 17, "which is not it"),
    (lambda w, e, n, m: None, "end in a return"),
    (lambda w: w, "your function stops"),
]

ORDERS: list[tuple[Answer, Answer, str]] = [
    (post, post, "pre: this is the other order, post"),
    (pre, pre, "post: this is the other order, pre"),
    (lambda x, f, norm: norm(x) + f(norm(x)), post, "pre: what goes around is x itself"),
    (pre, lambda x, f, norm: norm(x) + norm(f(x)), "post: the sum is normalised"),
    (lambda x, f, norm: x + norm(f(x)), post, "pre: x .* neither order"),
    (pre, lambda x, f, norm: norm(f(x)), "post: x does not go around the sub-layer, and"),
    (lambda x, f, norm: f(norm(x)), post, "pre: x does not go around the sub-layer$"),
    (lambda x, f, norm: x + f(x), post, "pre: no norm at all"),
    (lambda x, f, norm: x[:2], post, r"pre: got shape \(2, 5\), wanted \(3, 5\)"),
    (lambda x, f, norm: -x, post, "the numbers are not"),
    (lambda x, f, norm: None, post, "end in a return"),
    (lambda x: x, post, "your function stops"),
]


def with_part(number: int, change: Callable[[Tensor], Any]) -> Answer:
    def changed(sentences: list[list[int]]) -> list[Any]:
        parts: list[Any] = list(shift(sentences))
        parts[number] = change(parts[number])
        return parts

    return changed


LONG = torch.tensor([[1, 5, 6, 7, 2], [1, 8, 2, 0, 0], [1, 9, 10, 2, 0]])
LATE = torch.tensor([[5, 6, 7, 2], [8, 0, 0, 2], [9, 10, 0, 2]])
BARE = torch.tensor([[5, 6, 7], [8, 0, 0], [9, 10, 0]])
SHIFT: list[tuple[Answer, str]] = [
    (lambda s: (shift(s)[1], *shift(s)[1:]), "copying is all it will learn"),
    (with_part(0, lambda _: LONG), "nothing is written after it"),
    (with_part(0, lambda _: BARE), "read: the start is missing"),
    (lambda s: (shift(s)[0], shift(s)[0], shift(s)[2]), "write: the start is never written"),
    (with_part(1, lambda _: BARE), "never stops"),
    (with_part(1, lambda _: LATE), "not behind the padding"),
    (with_part(2, lambda mask: ~mask), "True is where a prediction counts"),
    (with_part(2, torch.ones_like), "padding counts, too"),
    (lambda s: (*shift(s)[:2], (shift(s)[1] > 2)), "the end counts"),
    (lambda s: (*shift(s)[:2], (shift(s)[0] > 1)), "follows what is written"),
    (with_part(2, lambda mask: mask.tolist()), "mask: got a list, wanted a tensor"),
    (lambda s: shift(s)[0], "wanted three tensors"),
    (lambda s: None, "end in a return"),
    (lambda: None, "your function stops"),
]


def with_mask(number: int, change: Callable[[Tensor], Any]) -> Answer:
    def changed(lengths: Tensor, k: int, q: int) -> list[Any]:
        parts: list[Any] = list(torch_masks(lengths, k, q))
        parts[number] = change(parts[number])
        return parts

    return changed


MASKS: list[tuple[Answer, str]] = [
    (with_mask(0, lambda mask: ~mask), "tgt_mask: here True forbids"),
    (with_mask(1, lambda mask: ~mask), "src_key_padding_mask: here True forbids"),
    (with_mask(2, lambda mask: ~mask), "memory_key_padding_mask: here True forbids"),
    (with_mask(0, lambda mask: mask | torch.eye(5).bool()), "the diagonal is forbidden"),
    (with_mask(0, lambda mask: mask.mT), "the past is forbidden"),
    (with_mask(1, lambda mask: mask & mask.roll(1, -1)), "one place too few"),
    (with_mask(1, lambda mask: mask[:, None]), r"got shape \(3, 1, 7\)"),
    (with_mask(1, torch.zeros_like), "the numbers are not"),
    (with_mask(1, lambda mask: None), "end in a return"),
    (lambda lengths, k, q: torch_masks(lengths, k, q)[0], "wanted three masks"),
    (lambda lengths: lengths, "your function stops"),
]


@pytest.mark.parametrize(
    ("check", "answers", "hint"),
    [
        *((check_weights, (one,), hint) for one, hint in WEIGHTS),
        *((check_orders, (one, other), hint) for one, other, hint in ORDERS),
        *((check_shift, (one,), hint) for one, hint in SHIFT),
        *((check_torch_masks, (one,), hint) for one, hint in MASKS),
    ],
)
def test_wrong_answers_get_their_hint(check: Answer, answers: tuple[Any, ...], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(*answers)


def reversed_alike(encode: Answer, x: Tensor) -> bool:
    """Turn the words around before or after."""
    return torch.allclose(encode(x.flip(1)).flip(1), encode(x))


def write(step: Answer, state: Any, most: int) -> list[int]:
    """The likeliest word, again and again."""
    last = 1
    words: list[int] = []
    while len(words) < most:
        scores, state = step(last, state)
        last = int(scores.argmax())
        if last == 2:
            break
        words.append(last)
    return words


def forgetful(step: Answer, state: Any, most: int) -> list[int]:
    """Always begin with the start."""
    words = []
    for _ in range(most):
        scores, state = step(1, state)
        words.append(int(scores.argmax()))
    return words[:most]


def with_end(step: Answer, state: Any, most: int) -> list[int]:
    """Keep the end."""
    words = write(step, state, most)
    return [*words, 2] if len(words) < most else words


def test_right_answers_of_the_lesson_pass(capsys: pytest.CaptureFixture[str]) -> None:
    check_reversed(reversed_alike)
    check_by_hand([-1, 5], [-1, 1])
    check_write(write)
    assert capsys.readouterr().out == "Right.\n" * 3


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        (lambda encode, x: torch.allclose(encode(x.flip(1)), encode(x)), "turn it back first"),
        (lambda encode, x: True, "got 1 for one"),
        (lambda encode, x: torch.allclose(encode(x.flip(-1)), encode(x).flip(-1)), "axis 1"),
    ],
)
def test_a_wrong_test_of_order_gets_a_hint(wrong: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_reversed(wrong)


@pytest.mark.parametrize(
    ("pre", "post", "hint"),
    [
        ([-1, 1], [-1, 5], "pre: .*the other order, post"),
        ([-3, 3], [-1, 1], "pre: .*x itself"),
        ([-1, 5], [3, 9], "post: .*no norm"),
        ([-1, 5], [-1, 5], "post: .*the other order, pre"),
    ],
)
def test_wrong_sums_by_hand_get_a_hint(pre: Any, post: Any, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_by_hand(pre, post)


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [(forgetful, "hand on the word"), (with_end, "the end is no word"), (len, "takes")],
)
def test_a_wrong_decoder_gets_a_hint(wrong: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_write(wrong)
