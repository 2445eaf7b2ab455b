"""Steps that hand on their keys: values and gradients against one call for all of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from companion.kernels import turns
from companion.scores import additive_score

STEPS, B, K, WIDTH = 3, 5, 7, 11

Scored = Callable[[Tensor, Tensor, Tensor], Tensor]


def draw(*shape: int) -> Tensor:
    torch.manual_seed(sum(shape))
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


def scored_in_turn(queries: Tensor, keys: Tensor, vector: Tensor) -> Tensor:
    rows = []
    for query in torch.split(queries, 1, 1):
        scores, keys = turns.additive_score(query, keys, vector)
        rows.append(scores)
    return torch.cat(rows, 1)


def multiplied_in_turn(rows: Tensor, matrix: Tensor) -> Tensor:
    products = []
    for row in torch.split(rows, 1, -2):
        product, matrix = turns.product(row, matrix)
        products.append(product)
    return torch.cat(products, -2)


@pytest.mark.parametrize("room", [1, 2 * K * WIDTH, 2**18])
def test_scores_in_turn_are_the_scores_of_all(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    monkeypatch.setattr(turns, "ROOM", room)
    given = draw(B, STEPS, WIDTH), draw(B, K, WIDTH), draw(WIDTH)
    found = scored_in_turn(*given)
    identity = torch.eye(WIDTH, dtype=torch.float64)
    expected = additive_score(given[0], given[1], identity, None, given[2])
    torch.testing.assert_close(found, expected)
    upstream = draw(B, STEPS, K).detach()
    grads, wanted = (torch.autograd.grad((x * upstream).sum(), given) for x in (found, expected))
    for one, other in zip(grads, wanted, strict=True):
        torch.testing.assert_close(one, other)
    assert torch.autograd.gradcheck(scored_in_turn, given)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_scores_lose_no_more_than_their_dtype_does(dtype: torch.dtype) -> None:
    exact = [x.detach() for x in (draw(B, 1, WIDTH), draw(B, K, WIDTH), draw(WIDTH))]
    given = [x.to(dtype).requires_grad_() for x in exact]
    scores, _ = turns.additive_score(given[0], given[1], given[2])
    rounded = [x.detach().double().requires_grad_() for x in given]
    identity = torch.eye(WIDTH, dtype=torch.float64)
    expected = additive_score(rounded[0], rounded[1], identity, None, rounded[2])
    found = [scores, *torch.autograd.grad(scores.double().square().sum(), given)]
    wanted = [expected, *torch.autograd.grad(expected.square().sum(), rounded)]
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == dtype
        assert (one - other).norm() < 4 * torch.finfo(dtype).eps * other.norm()


@pytest.mark.parametrize("lead", [(), (B,)])
def test_products_in_turn_are_the_product_of_all(lead: tuple[int, ...]) -> None:
    given = draw(*lead, STEPS, K), draw(*lead, K, WIDTH)
    torch.testing.assert_close(multiplied_in_turn(*given), given[0] @ given[1])
    assert torch.autograd.gradcheck(multiplied_in_turn, given)


def test_a_step_whose_result_is_not_used_takes_no_part() -> None:
    rows, matrix = draw(STEPS, K), draw(K, WIDTH)
    first, handed = turns.product(rows[:1], matrix)
    turns.product(rows[1:2], handed)
    last, _ = turns.product(rows[2:], handed)
    (grad,) = torch.autograd.grad((first + last).sum(), matrix)
    torch.testing.assert_close(grad, (rows[0] + rows[2])[:, None].expand(K, WIDTH))


def test_gradients_can_be_taken_twice_but_not_differentiated() -> None:
    given = draw(B, STEPS, WIDTH), draw(B, K, WIDTH), draw(WIDTH)
    total = scored_in_turn(*given).square().sum()
    once = torch.autograd.grad(total, given, retain_graph=True)
    again = torch.autograd.grad(total, given, create_graph=True)
    for one, other in zip(once, again, strict=True):
        torch.testing.assert_close(one, other)
        with pytest.raises(RuntimeError, match=r"^create_graph: .*, wanted the first ones alone"):
            other.sum().backward(retain_graph=True)  # type: ignore[no-untyped-call]


def test_under_autocast_steps_are_plain_operations() -> None:
    query, keys, vector = draw(B, 1, WIDTH).float(), draw(B, K, WIDTH).float(), draw(WIDTH).float()
    with torch.autocast("cpu", torch.bfloat16):
        product, handed = turns.product(query, keys.mT)
        scores, _ = turns.additive_score(query, keys, vector)
    assert product.dtype == torch.bfloat16
    assert handed.grad_fn is not None
    scores.sum().backward()  # type: ignore[no-untyped-call]
    with pytest.raises(AssertionError):
        torch.testing.assert_close(product.float(), query @ keys.mT, rtol=0, atol=0)
    torch.testing.assert_close(product.float(), query @ keys.mT, rtol=0.1, atol=0.1)
