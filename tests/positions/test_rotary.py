"""Rotations against complex numbers turned one by one, on every array library."""

import cmath
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.positions import rotate
from tests.oracle import Float, as_numpy, assert_matches, draw

B, H, N, D = 2, 3, 5, 14

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


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
    heads = draw(B, B, N, D)  # as many as sequences
    assert_matches(rotate(heads, POSITIONS), plain(heads, POSITIONS, radians(), False))


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
                    narrow = xp.asarray(x, dtype=xp.float32)
                    assert rotate(narrow, xp.asarray(POSITIONS), **options).dtype == xp.float32


@settings(max_examples=100, deadline=None)
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


def test_positions_of_any_kind() -> None:
    x = draw(B, H, N, D)
    for dtype in ("int32", "int64", "uint8", "float32", "float64"):
        positions = np.asarray(POSITIONS, dtype=getattr(np, dtype))
        assert_matches(rotate(x, positions), plain(x, POSITIONS, radians(), False))
    assert_matches(rotate(x, POSITIONS / 4), plain(x, POSITIONS / 4, radians(), False))


def test_far_positions_cost_float32_nothing() -> None:
    for interleaved in (False, True):
        x = draw(B, H, N, 64)
        far = 1_000_000 + POSITIONS
        expected = plain(x.astype(np.float32), far, radians(64), interleaved)
        for dtype in (np.int32, np.int64, np.float32):
            actual = rotate(x.astype(np.float32), far.astype(dtype), interleaved=interleaved)
            assert actual.dtype == np.float32
            assert np.abs(actual - expected).max() <= 4e-7 * np.abs(x).max()


def test_float32_frequencies_are_taken_as_they_are() -> None:
    x, far = draw(B, H, N, 64), 1_000_000 + POSITIONS
    frequencies = np.array(radians(64), dtype=np.float32)
    expected = plain(x, far, frequencies, False)
    actual = rotate(x, far, frequencies=frequencies)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-8)


def test_half_precision_is_rounded_once(torch: ModuleType) -> None:
    for dtype in (torch.float16, torch.bfloat16):
        for interleaved in (False, True):
            x, positions = torch.asarray(draw(B, H, N, D)).to(dtype), torch.asarray(POSITIONS)
            exact = torch.asarray(plain(as_numpy(x.double()), POSITIONS, radians(), interleaved))
            actual = rotate(x, positions, interleaved=interleaved)
            assert actual.dtype == dtype
            rounding = (exact.to(dtype).double() - exact).abs().max()
            assert (actual.double() - exact).abs().max() <= rounding
    x = draw(B, H, N, D).astype(np.float16)
    exact = plain(x, POSITIONS, radians(), False)
    np.testing.assert_array_equal(
        rotate(x, POSITIONS), exact.astype(np.float32).astype(np.float16), strict=True
    )


@pytest.mark.parametrize("interleaved", [False, True])
def test_gradients(torch: ModuleType, interleaved: bool) -> None:
    arrays = [
        torch.asarray(array).requires_grad_()
        for array in (draw(B, 2, 3, 5), POSITIONS[:, :3] / 7, np.array([1.0, 0.3]))
    ]

    def turned(x: Any, positions: Any, frequencies: Any) -> Any:
        return rotate(x, positions, frequencies=frequencies, interleaved=interleaved)

    assert torch.autograd.gradcheck(turned, arrays)


def test_wrong_widths_are_refused() -> None:
    x = draw(B, H, N, D)
    with pytest.raises(ValueError, match=r"x: got width 7 in shape .*, wanted an even one above 0"):
        rotate(x[..., :7], np.arange(N))
    with pytest.raises(ValueError, match=r"frequencies: got 8 in shape \(8,\), wanted at most 7"):
        rotate(x, np.arange(N), frequencies=np.ones(8))
