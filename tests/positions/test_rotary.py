"""Rotations against complex numbers turned one by one, on every array library."""

from __future__ import annotations

import cmath
import re
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.positions import Linear, Yarn, rotary_frequencies, rotate
from tests.oracle import Float, as_numpy, assert_matches

if TYPE_CHECKING:
    from typing import assert_type

    from torch import Tensor

B, H, N, D = 2, 3, 5, 14

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

layouts = pytest.mark.parametrize("interleaved", [False, True], ids=["halves", "interleaved"])


def draw(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def plain(x: Float, positions: Any, frequencies: Any, interleaved: bool) -> Float:
    """Turn every pair of (b, h, n, d) as a complex number; positions are (b, n)."""
    result = np.array(x, dtype=np.float64)
    pairs = len(frequencies)
    for b, h, n, i in np.ndindex(*x.shape[:3], pairs):
        one, other = (2 * i, 2 * i + 1) if interleaved else (i, i + pairs)
        angle = float(positions[b][n]) * float(frequencies[i])
        turned = complex(x[b, h, n, one], x[b, h, n, other]) * cmath.exp(1j * angle)
        result[b, h, n, one], result[b, h, n, other] = turned.real, turned.imag
    return result


def radians(width: int = D, base: float = 10_000.0) -> list[float]:
    return [1 / base ** (2 * i / width) for i in range(width // 2)]


POSITIONS = np.array([[0, 1, 2, 3, 4], [7, 3, 3, 0, 63]])


def test_a_row_of_positions_for_every_sequence(libraries: list[Any]) -> None:
    for xp in libraries:
        for interleaved in (False, True):
            x = draw(B, H, N, D)
            actual = rotate(xp.asarray(x), xp.asarray(POSITIONS), interleaved=interleaved)
            assert_matches(actual, plain(x, POSITIONS, radians(), interleaved))


def test_one_row_of_positions_for_all() -> None:
    for n, width in [(0, D), (1, 2), (5, D), (63, D)]:
        for interleaved in (False, True):
            x, positions = draw(B, H, n, width), np.arange(n) + 11
            actual = rotate(x, positions, interleaved=interleaved)
            assert_matches(actual, plain(x, [positions] * B, radians(width), interleaved))


def test_part_of_the_width(libraries: list[Any]) -> None:
    for xp in libraries:
        for pairs in [0, 1, 3, 7]:
            for interleaved in (False, True):
                x, frequencies = draw(B, H, N, 15), draw(pairs, seed=1)
                expected = plain(x, POSITIONS, frequencies, interleaved)
                np.testing.assert_array_equal(expected[..., 2 * pairs :], x[..., 2 * pairs :])
                for own in (xp.asarray(frequencies), frequencies):  # NumPy's serve every library
                    options = {"frequencies": own, "interleaved": interleaved}
                    actual = rotate(xp.asarray(x), xp.asarray(POSITIONS), **options)
                    assert_matches(actual, expected)


def test_rescaled_frequencies() -> None:
    for interleaved in (False, True):
        x = draw(B, H, N, D)
        for frequencies in (
            rotary_frequencies(D, base=100.0),
            rotary_frequencies(8, scaling=Yarn(4.0, 50)),
        ):
            options = {"frequencies": frequencies, "interleaved": interleaved}
            actual = rotate(x, POSITIONS, **options)
            assert_matches(actual, plain(x, POSITIONS, frequencies, interleaved))


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_shape_positions_and_part(data: st.DataObject) -> None:
    lead = data.draw(st.lists(st.integers(1, 3), max_size=3), "lead")
    n, width = data.draw(st.integers(0, 5), "n"), data.draw(st.integers(2, 11), "width")
    pairs = data.draw(st.integers(0, width // 2), "pairs")
    axes = [data.draw(st.sampled_from([size, 1])) for size in lead]
    axes = axes[: data.draw(st.integers(0, len(lead)), "axes of positions")]
    generator = np.random.default_rng(data.draw(st.integers(0, 99), "seed"))
    x, frequencies = generator.normal(size=(*lead, n, width)), generator.normal(size=pairs)
    positions = generator.integers(-50, 1000, size=(*axes, n))
    interleaved = data.draw(st.booleans(), "interleaved")
    actual = rotate(x, positions, frequencies=frequencies, interleaved=interleaved)
    assert actual.shape == x.shape
    for place in np.ndindex(*lead):
        row = tuple(0 if size == 1 else i for i, size in zip(place, axes, strict=False))
        one = plain(x[place][None, None], [positions[row]], frequencies, interleaved)
        assert_matches(actual[place], one[0, 0])


def test_leading_axes(libraries: list[Any]) -> None:
    for xp in libraries:
        x, positions = draw(B, H, N, D), xp.asarray(POSITIONS)
        expected = rotate(x, POSITIONS)
        moved = xp.asarray(x)
        assert_matches(rotate(moved, positions[:, None, :]), expected)
        repeated = np.repeat(POSITIONS[:, None], H, 1)
        assert_matches(rotate(moved, xp.asarray(repeated)), expected)
        assert_matches(rotate(moved[:, 0, ...], positions), expected[:, 0])
        assert_matches(rotate(moved[1, ...], positions[1, :]), expected[1])
        assert_matches(rotate(moved[1, 2, ...], positions[1, :]), expected[1, 2])
        first = rotate(x, POSITIONS[:1])
        assert_matches(rotate(moved, positions[:1, :]), first)
        assert_matches(first, rotate(x, POSITIONS[0]))


def test_a_row_is_a_sequences_even_where_there_are_as_many_heads() -> None:
    x = draw(B, B, N, D)
    actual = rotate(x, POSITIONS)
    assert_matches(actual, plain(x, POSITIONS, radians(), False))


def test_positions_of_any_kind() -> None:
    for dtype in ["int32", "int64", "uint8", "float32", "float64"]:
        x = draw(B, H, N, D)
        positions = np.asarray(POSITIONS, dtype=getattr(np, dtype))
        assert_matches(rotate(x, positions), plain(x, POSITIONS, radians(), False))


def test_positions_between_the_whole_ones() -> None:
    for interleaved in (False, True):
        x = draw(B, H, N, D)
        frequencies = rotary_frequencies(D, scaling=Linear(4.0))
        interpolated = rotate(x, POSITIONS, frequencies=frequencies, interleaved=interleaved)
        between = rotate(x, POSITIONS / 4, interleaved=interleaved)
        assert_matches(between, plain(x, POSITIONS / 4, radians(), interleaved))
        assert_matches(interpolated, between)


# Properties


@layouts
def test_scores_depend_on_the_distance_alone(interleaved: bool) -> None:
    query, key = draw(1, D), draw(1, D, seed=1)
    options: dict[str, Any] = {"interleaved": interleaved}

    def score(i: int, j: int) -> float:
        rotated = (
            as_numpy(rotate(array, np.array([position]), **options))
            for array, position in ((query, i), (key, j))
        )
        return float(np.vdot(*rotated))

    for distance in (-63, -5, 0, 1, 7):
        scores = [score(j + distance, j) for j in (0, 1, 5, 200)]
        np.testing.assert_allclose(scores, scores[0], rtol=1e-12, atol=1e-12)
    assert abs(score(5, 0) - score(0, 5)) > 1e-2  # the direction tells
    assert abs(score(5, 0) - score(1, 0)) > 1e-2  # and so does the distance


def test_the_layouts_differ_by_an_order_of_the_features() -> None:
    x = draw(B, H, N, D)
    order = [feature for i in range(D // 2) for feature in (i, i + D // 2)]
    halves = rotate(x, POSITIONS)
    neighbours = rotate(x[..., order], POSITIONS, interleaved=True)
    assert_matches(neighbours, halves[..., order])
    wrong = rotate(x, POSITIONS, interleaved=True)
    assert np.abs(wrong - halves).max() > 0.1


# Numbers at the edge


def test_far_positions_cost_float32_nothing() -> None:
    for interleaved in (False, True):
        x = draw(B, H, N, 64)
        far = 1_000_000 + POSITIONS
        expected = plain(x.astype(np.float32), far, radians(64), interleaved)
        for dtype in (np.int32, np.int64, np.float32):
            actual = rotate(
                np.asarray(x, dtype=np.float32),
                np.asarray(far, dtype=dtype),
                interleaved=interleaved,
            )
            assert actual.dtype == np.float32
            assert np.abs(actual - expected).max() <= 4e-7 * np.abs(x).max()


def test_far_scores_depend_on_the_distance_alone() -> None:
    for dtype, tolerance in ((np.float32, 1e-5), (np.float64, 1e-8)):
        query, key = (np.asarray(draw(N, 64, seed=seed), dtype=dtype) for seed in (0, 1))
        scores = []
        for start in (0, 1_000_000):
            positions = start + np.arange(N)
            scores.append(rotate(query, positions) @ as_numpy(rotate(key, positions)).T)
        np.testing.assert_allclose(scores[1], scores[0], rtol=0, atol=tolerance)


def test_float32_frequencies_are_taken_as_they_are() -> None:
    x = draw(B, H, N, 64)
    frequencies = np.array(radians(64), dtype=np.float32)
    far = 1_000_000 + POSITIONS
    actual = rotate(x, far, frequencies=frequencies)
    expected = plain(x, far, frequencies, False)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-8)


def test_numpys_half_precision_is_rounded_once() -> None:
    for interleaved in (False, True):
        x = draw(B, H, N, D).astype(np.float16)
        exact = plain(x, POSITIONS, radians(), interleaved)
        actual = rotate(x, POSITIONS, interleaved=interleaved)
        assert actual.dtype == np.float16
        np.testing.assert_array_equal(actual, exact.astype(np.float32).astype(np.float16))


def test_torchs_half_precision(torch: ModuleType) -> None:
    for dtype in ["float16", "bfloat16"]:
        for interleaved in (False, True):
            half = getattr(torch, dtype)
            x, positions = torch.asarray(draw(B, H, N, D)).to(half), torch.asarray(POSITIONS)
            exact = torch.asarray(plain(as_numpy(x.double()), POSITIONS, radians(), interleaved))
            actual = rotate(x, positions, interleaved=interleaved)
            assert actual.dtype == half
            rounding = (exact.to(half).double() - exact).abs().max()
            assert (actual.double() - exact).abs().max() <= rounding


def test_the_dtype_is_that_of_x(libraries: list[Any]) -> None:
    for xp in libraries:
        for dtype in ["float32", "float64"]:
            x = xp.asarray(draw(N, D), dtype=getattr(xp, dtype))
            for frequencies in (None, rotary_frequencies(4)):
                assert rotate(x, xp.asarray(POSITIONS[0]), frequencies=frequencies).dtype == x.dtype


# Torch


@layouts
def test_gradients(torch: ModuleType, interleaved: bool) -> None:
    arrays = [
        torch.asarray(array).requires_grad_()
        for array in (draw(B, 2, 3, 5), POSITIONS[:, :3] / 7, np.array([1.0, 0.3]))
    ]

    def turned(x: Any, positions: Any, frequencies: Any) -> Any:
        return rotate(x, positions, frequencies=frequencies, interleaved=interleaved)

    assert torch.autograd.gradcheck(turned, arrays)


def test_gradients_turn_back(torch: ModuleType) -> None:
    x, positions = torch.asarray(draw(B, H, N, D)).requires_grad_(), torch.asarray(POSITIONS)
    output = draw(B, H, N, D, seed=1)
    (gradient,) = torch.autograd.grad(rotate(x, positions), x, torch.asarray(output))
    assert_matches(gradient, plain(output, -POSITIONS, radians(), False))


def test_no_gradient_where_none_is_wanted(torch: ModuleType) -> None:
    assert not rotate(torch.ones(N, D), torch.arange(N)).requires_grad


@pytest.mark.filterwarnings("ignore:Dynamo detected a call to a `functools.lru_cache`:UserWarning")
def test_torch_compiles_it_in_one_piece_with_sizes_left_open(torch: ModuleType) -> None:
    def both(x: Any, positions: Any) -> Any:
        frequencies = rotary_frequencies(4, scaling=Yarn(4.0, 50), like=x)
        return rotate(rotate(x, positions), positions, frequencies=frequencies, interleaved=True)

    torch.compiler.reset()
    compiled = torch.compile(both, backend="eager", fullgraph=True, dynamic=True)
    x, positions = torch.asarray(draw(B, H, N, D)), torch.asarray(POSITIONS)
    assert_matches(compiled(x, positions), as_numpy(both(x, positions)))


def test_it_runs_on_meta(torch: ModuleType) -> None:
    x, positions = torch.ones(B, H, N, D, device="meta"), torch.asarray(POSITIONS, device="meta")
    for frequencies in (None, rotary_frequencies(4)):
        rotated = rotate(x, positions, frequencies=frequencies)
        assert (rotated.shape, rotated.device.type) == (x.shape, "meta")


def test_frequencies_follow_x_to_its_device() -> None:
    strict = pytest.importorskip("array_api_strict")
    device = strict.Device("device1")
    x, positions = strict.ones((3, 4), device=device), strict.asarray([0, 1, 2], device=device)
    for frequencies in (None, rotary_frequencies(4)):
        assert rotate(x, positions, frequencies=frequencies).device == device


def typed(x: Tensor, positions: Tensor) -> None:
    assert_type(rotate(x, positions), Tensor)


# Wrong calls

x0, positions0, whole0 = draw(B, H, N, D), POSITIONS, np.arange(N)
WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (
        lambda: rotate(x0[..., :7], whole0),
        ValueError,
        "x: got width 7 in shape (2, 3, 5, 7), wanted an even one above 0, "
        "or frequencies for a part of it",
    ),
    (
        lambda: rotate(x0[..., :0], whole0),
        ValueError,
        "x: got width 0 in shape (2, 3, 5, 0), wanted an even one above 0",
    ),
    (
        lambda: rotate(x0, whole0, frequencies=np.ones(8)),
        ValueError,
        "frequencies: got 8 in shape (8,), wanted at most 7, a pair of features of x each",
    ),
]


def test_wrong_calls_say_what_is_wrong() -> None:
    for call, error, message in WRONG:
        with pytest.raises(error, match="^" + re.escape(message)):
            call()


def test_libraries_and_devices_do_not_mix(torch: ModuleType) -> None:
    x, positions = torch.ones(N, D), torch.arange(N)
    with pytest.raises(TypeError, match=r"^positions: got an array of numpy, wanted one of torch"):
        rotate(x, whole0)
    with pytest.raises(ValueError, match=r"^positions: got device meta, wanted cpu, where x is"):
        rotate(x, positions.to("meta"))
    with pytest.raises(TypeError, match=r"^frequencies: got an array of torch, wanted one of nump"):
        rotate(x0, whole0, frequencies=torch.ones(2))
    with pytest.raises(ValueError, match=r"^frequencies: got device meta, wanted cpu, where x is"):
        rotate(x, positions, frequencies=torch.ones(2, device="meta"))
