"""Linear attention against loops, published formulas and itself, on every array library."""

import math
import re
import tracemalloc
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.arrays import namespace
from companion.linear import (
    chunked_linear_attention,
    elu_feature_map,
    linear_attention,
    recurrent_linear_attention,
)
from tests.oracle import assert_matches, draw

Float = npt.NDArray[np.float64]

parallel: Any = linear_attention  # untyped: the tests unpack arguments into them
recurrent: Any = recurrent_linear_attention
chunked: Any = chunked_linear_attention

H, N, D, V = 3, 67, 5, 7

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

# What each rule takes, as the axes of its factors.
RULES: dict[str, dict[str, str]] = {
    "sum": {},
    "decay": {"decay": "n"},
    "decayed channels": {"decay": "nd"},
    "delta": {"beta": "n"},
    "gated delta": {"decay": "n", "beta": "n"},
    "delta with decayed channels": {"decay": "nd", "beta": "n"},
    "delta with written channels": {"beta": "nd"},
    "delta with all channels": {"decay": "nd", "beta": "nd"},
}
ADDING = [rule for rule, factors in RULES.items() if "beta" not in factors]


def factors(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).random(shape)


def inputs(
    rule: str, *lead: int, n: int = N, d: int = D, v: int = V, state: bool = True
) -> tuple[list[Any], dict[str, Any]]:
    """Queries, keys of length 1 and values, and the options that a rule takes."""
    key = draw(*lead, n, d, seed=1)
    arrays = [draw(*lead, n, d), key / np.sqrt((key**2).sum(-1, keepdims=True)), draw(*lead, n, v)]
    options = {
        name: factors(*lead, *({"n": n, "d": d}[axis] for axis in axes), seed=2)
        for name, axes in RULES[rule].items()
    }
    return arrays, options | ({"state": draw(*lead, d, v, seed=3)} if state else {})


def moved(xp: Any, arrays: list[Any], options: dict[str, Any], **more: Any) -> Any:
    """Bring arrays and options to a library."""
    moved_options = {name: xp.asarray(option) for name, option in options.items()}
    return [xp.asarray(array) for array in arrays], moved_options | more


def loops(
    query: Any, key: Any, value: Any, decay: Any = None, beta: Any = None, state: Any = None
) -> tuple[Float, Float]:
    """Decay, compare, write and read for (..., n, d) and (..., n, v), one number at a time."""
    query, key, value, decay, beta, state = (
        array if array is None else array.astype(np.float64)
        for array in (query, key, value, decay, beta, state)
    )
    (*lead, n, d), v = query.shape, value.shape[-1]
    output, last = np.zeros((*lead, n, v)), np.zeros((*lead, d, v))
    for head in np.ndindex(*lead):
        held = np.zeros((d, v)) if state is None else state[head].copy()
        for t in range(n):
            found = np.zeros(v)
            for c in range(d):
                for w in range(v):
                    if decay is not None:
                        here = decay[(*head, t)]
                        held[c, w] *= here[c] if decay.ndim == key.ndim else here
                    found[w] += key[(*head, t, c)] * held[c, w]
            for c in range(d):
                for w in range(v):
                    new, share = value[(*head, t, w)], 1.0
                    if beta is not None:
                        new -= found[w]
                        here = beta[(*head, t)]
                        share = here[c] if beta.ndim == key.ndim else here
                    held[c, w] += share * key[(*head, t, c)] * new
            for w in range(v):
                output[(*head, t, w)] = math.fsum(
                    query[(*head, t, c)] * held[c, w] for c in range(d)
                )
        last[head] = held
    return output, last


@cache
def expected(rule: str, *lead: int, n: int = N, state: bool = True) -> tuple[Float, Float]:
    arrays, options = inputs(rule, *lead, n=n, state=state)
    return loops(*arrays, **options)


def check(actual: Any, wanted: Any) -> None:
    for one, other in zip(actual, wanted, strict=True):
        assert_matches(one, other)


# The three forms against the loops


@pytest.mark.parametrize("rule", RULES)
def test_every_form_equals_loops(libraries: list[Any], rule: str) -> None:
    for xp in libraries:
        for n, state in [(0, True), (1, False), (7, True), (N, False), (N, True)]:
            arrays, options = moved(xp, *inputs(rule, H, n=n, state=state))
            wanted = expected(rule, H, n=n, state=state)
            check(recurrent(*arrays, **options), wanted)
            for chunk_size in (1, 5, 64, N, 100):
                check(chunked(*arrays, **options, chunk_size=chunk_size), wanted)
            if rule in ADDING and not state:
                assert_matches(parallel(*arrays, **options), wanted[0])


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_shape(data: st.DataObject) -> None:
    """Every form, for any shape, rule and size of chunks."""
    lead = data.draw(st.lists(st.integers(1, 3), max_size=2), "lead")
    n, d, v = (data.draw(st.integers(0, 8), name) for name in "ndv")
    rule, state = data.draw(st.sampled_from(list(RULES)), "rule"), data.draw(st.booleans(), "state")
    chunk_size = data.draw(st.integers(1, 8), "chunk_size")
    arrays, options = inputs(rule, *lead, n=n, d=d, v=v, state=state)
    wanted = loops(*arrays, **options)
    check(recurrent(*arrays, **options), wanted)
    check(chunked(*arrays, **options, chunk_size=chunk_size), wanted)
    if rule in ADDING and not state:
        assert_matches(parallel(*arrays, **options), wanted[0])


# Published formulas


def test_the_normalised_form(libraries: list[Any]) -> None:
    """Katharopoulos et al. (2020): a mean of the values, weighted by phi(q) . phi(k)."""
    for xp in libraries:
        (query, key, value), options = inputs("decayed channels", n=13, state=False)
        mapped = [np.where(x > 0, x + 1, np.exp(x)) for x in (query, key)]
        wanted = np.zeros((13, V))
        for i in range(13):
            weights = [
                math.fsum(
                    mapped[0][i, c]
                    * mapped[1][j, c]
                    * math.prod(options["decay"][j + 1 : i + 1, c])
                    for c in range(D)
                )
                for j in range(i + 1)
            ]
            for w in range(V):
                total = math.fsum(weight * value[j, w] for j, weight in enumerate(weights))
                wanted[i, w] = total / math.fsum(weights)
        arrays, options = moved(xp, [query, key, value], options)
        assert_matches(parallel(*arrays, **options, feature_map=elu_feature_map), wanted)

        mapped_query, mapped_key = (elu_feature_map(array) for array in arrays[:2])
        with_ones = xp.concat([arrays[2], xp.ones((13, 1), dtype=xp.float64)], axis=-1)
        for form in (recurrent, chunked):
            both, _ = form(mapped_query, mapped_key, with_ones, **options)
            assert_matches(both[..., :-1] / both[..., -1:], wanted)


def test_without_causality_lengths_may_differ() -> None:
    for feature_map in (None, np.exp):
        for q, k in [(5, 7), (63, 1), (0, 5), (5, 0)]:
            query, key, value = draw(H, q, D), draw(H, k, D, seed=1), draw(H, k, V, seed=2)
            mapped = [feature_map(x) if feature_map else x for x in (query, key)]
            weights = mapped[0] @ np.swapaxes(mapped[1], -1, -2)
            if feature_map and k:
                weights = weights / weights.sum(-1, keepdims=True)
            actual = parallel(query, key, value, feature_map=feature_map, is_causal=False)
            assert_matches(actual, weights @ value)


def test_a_feature_map_may_change_the_width(libraries: list[Any]) -> None:
    """All products of two features: the dot product is squared."""
    (query, key, value), _ = inputs("sum", H)

    def pairs(x: Any) -> Any:
        products = x[..., :, None] * x[..., None, :]
        return namespace(x).reshape(products, (*x.shape[:-1], D * D))

    weights = np.tril((query @ np.swapaxes(key, -1, -2)) ** 2)
    wanted = weights @ value / weights.sum(-1, keepdims=True)
    for xp in libraries:
        arrays = [xp.asarray(array) for array in (query, key, value)]
        assert_matches(parallel(*arrays, feature_map=pairs), wanted)
        decay = xp.ones((H, N, D * D), dtype=xp.float64)  # channels of the mapped key
        assert_matches(parallel(*arrays, feature_map=pairs, decay=decay), wanted)


def test_elu_feature_map_is_torchs(torch: ModuleType) -> None:
    x = torch.asarray([-1e4, -1.0, 0.0, 2.0, 1e4], dtype=torch.float64, requires_grad=True)
    wanted = torch.nn.functional.elu(x) + 1
    actual: Any = elu_feature_map(x)
    torch.testing.assert_close(actual, wanted)
    gradients = [torch.autograd.grad(y.sum(), x) for y in (actual, wanted)]
    torch.testing.assert_close(*gradients)


# Properties


def test_leading_axes_broadcast() -> None:
    """One array has the heads, all others have an axis of 1 for them."""
    for wide in ("query", "key", "value", "decay", "beta", "state"):
        arrays, options = inputs("delta with all channels", 2, H, n=9)
        ours = dict(zip(("query", "key", "value"), arrays, strict=True)) | options
        ours = {name: array if name == wide else array[:, :1] for name, array in ours.items()}
        full = {
            name: np.broadcast_to(array, (2, H, *array.shape[2:])) for name, array in ours.items()
        }
        output, state = loops(**full)
        state = state[:, :1] if wide == "query" else state
        check(recurrent(**ours), (output, state))
        check(chunked(**ours, chunk_size=4), (output, state))
        if wide != "beta":
            del ours["beta"], ours["state"], full["beta"], full["state"]
            wanted = loops(**full)[0][:, : 1 if wide == "state" else H]
            assert_matches(parallel(**ours), wanted)


def test_memory_is_linear() -> None:
    """Weights (n, n) would take 800 MB here."""
    n = 10_007
    one = np.ones((n, 1))
    tracemalloc.start()
    everything = parallel(one, one, one, is_causal=False)
    sums, _ = chunked(one, one, one, decay=np.ones(n))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_array_equal(everything[:, 0], np.full(n, n))
    np.testing.assert_array_equal(sums[:, 0], np.arange(1, n + 1))
    assert peak < 64e6


# Numbers at the edge


def strong(name: str, *shape: int) -> Any:
    drawn = factors(*shape)
    return {
        "tiny": np.full(shape, 1e-4),
        "none": np.zeros(shape),
        "some none": np.where(drawn < 0.3, 0.0, drawn),
        "smallest": np.full(shape, 1e-38),
    }[name]


def test_strong_decay_in_single_precision() -> None:
    for name in ("tiny", "some none", "smallest"):
        for rule in [rule for rule in RULES if "decay" in RULES[rule]]:
            arrays, options = inputs(rule, state=rule not in ADDING)
            options["decay"] = strong(name, *options["decay"].shape)
            single = [array.astype(np.float32) for array in arrays]
            options = {key: option.astype(np.float32) for key, option in options.items()}
            wanted = loops(*single, **options)
            for form in (recurrent, chunked):
                for one, other in zip(form(*single, **options), wanted, strict=True):
                    assert_matches(one, other, tolerance=1e-5)
            if rule in ADDING:
                assert_matches(parallel(*single, **options), wanted[0], tolerance=1e-5)


def test_equal_keys_in_single_precision() -> None:
    """Each step replaces what the one before wrote: no powers of the overlaps, which would explode.

    With beta 1 the output is the value itself.
    """
    key = np.repeat(draw(1, D), N, 0)
    key = (key / np.sqrt((key**2).sum(-1, keepdims=True))).astype(np.float32)
    value = draw(N, V).astype(np.float32)
    output, _ = chunked(key, key, value, beta=np.ones(N, np.float32))
    assert_matches(output, value, tolerance=1e-5)


def test_a_row_without_weight_is_zero(libraries: list[Any]) -> None:
    query, key = -np.ones((3, 2)), np.ones((3, 2))
    query[1] = 1.0

    def rectify(x: Any) -> Any:
        xp = namespace(x)
        return xp.where(x > 0, x, 0.0)

    for xp in libraries:
        arrays = [xp.asarray(array) for array in (query, key, key)]
        for is_causal in (False, True):
            rectified = parallel(*arrays, feature_map=rectify, is_causal=is_causal)
            assert_matches(rectified, [[0.0, 0], [1, 1], [0, 0]])


def plain(query: Any, key: Any, value: Any, decay: Any, beta: Any, state: Any) -> list[Any]:
    """Take the steps of one head in whatever precision the arrays have."""
    outputs = []
    for t in range(len(query)):
        state = decay[t] * state
        new = value[t] - key[t] @ state
        state = state + (beta[t] * key[t])[:, None] * new
        outputs.append(query[t] @ state)
    return outputs


def test_numpys_half_precision_accumulates_in_float32() -> None:
    arrays, options = inputs("gated delta")
    options["decay"] = 1 - 0.1 * options["decay"]
    half = [array.astype(np.float16) for array in arrays]
    half_options = {name: option.astype(np.float16) for name, option in options.items()}
    exact, _ = loops(*half, **half_options)
    stepwise = np.stack(plain(*half, **half_options))
    assert stepwise.dtype == np.float16
    for form in (recurrent, chunked):
        output, state = form(*half, **half_options)
        assert (output.dtype, state.dtype) == (np.float16, np.float32)
        # Only the last rounding is left, half a unit in the last place.
        assert np.abs(output - exact).max() <= 2.0**-11 * np.abs(exact).max()
        assert np.abs(output - exact).max() < np.abs(stepwise - exact).max() / 2
    decay = {"decay": half_options["decay"]}
    output, (exact, _) = parallel(*half, **decay), loops(*half, **decay)
    assert output.dtype == np.float16
    assert np.abs(output - exact).max() <= 2.0**-11 * np.abs(exact).max()


def test_a_carried_state_loses_nothing_in_half_precision() -> None:
    for form in (recurrent, chunked):
        arrays, options = inputs("decay", n=8, state=False)
        half = [array.astype(np.float16) for array in arrays]
        decay = options["decay"].astype(np.float16)
        whole = form(*half, decay=decay)
        first, state = form(*(array[:5] for array in half), decay=decay[:5])
        rest = form(*(array[5:] for array in half), decay=decay[5:], state=state)
        np.testing.assert_array_equal(np.concatenate([first, rest[0]]), whole[0])
        np.testing.assert_allclose(rest[1], whole[1], rtol=1e-6)


def test_dtypes(libraries: list[Any]) -> None:
    for xp in libraries:
        arrays, options = inputs("gated delta", n=9)
        single = [xp.asarray(array, dtype=xp.float32) for array in arrays]
        single_options = {
            name: xp.asarray(option, dtype=xp.float32) for name, option in options.items()
        }
        _, double_options = moved(xp, [], options)
        for form in (recurrent, chunked):
            output, state = form(*single, **single_options)
            assert (output.dtype, state.dtype) == (xp.float32, xp.float32)
            output, state = form(*single, **double_options)  # wider factors: the output stays
            assert (output.dtype, state.dtype) == (xp.float32, xp.float64)
            output, state = form(*single[:2], xp.asarray(arrays[2]))
            assert (output.dtype, state.dtype) == (xp.float64, xp.float64)
        assert parallel(*single, decay=double_options["decay"]).dtype == xp.float32
        assert parallel(*single, feature_map=elu_feature_map).dtype == xp.float32


# Torch: gradients, meta tensors, compilation


def leaves(torch: ModuleType, arrays: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    named = dict(zip(("query", "key", "value"), arrays, strict=True)) | options
    return {name: torch.asarray(array).requires_grad_() for name, array in named.items()}


@pytest.mark.parametrize(
    ("form", "rule", "options"),
    [
        (recurrent, "delta with all channels", {}),
        (recurrent, "decayed channels", {}),
        (chunked, "delta with all channels", {"chunk_size": 2}),
        (chunked, "decayed channels", {"chunk_size": 2}),
        (parallel, "decayed channels", {}),
        (parallel, "decayed channels", {"feature_map": elu_feature_map}),
        (parallel, "sum", {"feature_map": elu_feature_map, "is_causal": False}),
    ],
)
def test_gradients(torch: ModuleType, form: Any, rule: str, options: dict[str, Any]) -> None:
    arrays = leaves(torch, *inputs(rule, n=5, d=2, v=3, state=form is not parallel))

    def call(*given: Any) -> Any:
        return form(**dict(zip(arrays, given, strict=True)), **options)

    assert torch.autograd.gradcheck(call, tuple(arrays.values()))


def test_strong_decay_has_finite_gradients(torch: ModuleType) -> None:
    for name in ("tiny", "none", "smallest"):
        for rule in ("decay", "decayed channels"):
            arrays, options = inputs(rule, state=False)
            options["decay"] = strong(name, *options["decay"].shape)
            named = leaves(torch, arrays, options)
            named = {key: leaf.detach().float().requires_grad_() for key, leaf in named.items()}
            for form in (recurrent, chunked, parallel):
                output = form(**named) if form is parallel else form(**named)[0]
                gradients = torch.autograd.grad(output.square().sum(), list(named.values()))
                assert all(gradient.isfinite().all() for gradient in gradients)


def test_a_row_without_weight_has_finite_gradients(torch: ModuleType) -> None:
    query = torch.tensor([[-1.0, -2.0], [1.0, 2.0]], requires_grad=True)
    output = parallel(query, query, query, feature_map=torch.relu)
    assert (output[0] == 0).all()
    assert torch.autograd.grad(output.sum(), query)[0].isfinite().all()


def test_meta_tensors_have_shapes(torch: ModuleType) -> None:
    for rule in RULES:
        arrays, options = moved(torch, *inputs(rule, 2, H))
        arrays = [array.to("meta") for array in arrays]
        options = {name: option.to("meta") for name, option in options.items()}
        for form in (recurrent, chunked):
            output, state = form(*arrays, **options)
            assert (output.shape, state.shape) == ((2, H, N, V), (2, H, D, V))
        if rule in ADDING:
            del options["state"]
            assert parallel(*arrays, **options, feature_map=elu_feature_map).shape == (2, H, N, V)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_torch_compiles_it_in_one_piece(torch: ModuleType) -> None:
    arrays, options = moved(torch, *inputs("delta with decayed channels", n=3))

    def call(*arrays: Any) -> Any:
        sums = parallel(*arrays, feature_map=elu_feature_map)
        return sums, *recurrent(*arrays, **options), *chunked(*arrays, **options, chunk_size=2)

    torch.compiler.reset()
    compiled = torch.compile(call, backend="eager", fullgraph=True, dynamic=True)
    torch.testing.assert_close(compiled(*arrays), call(*arrays))


def test_autocast(torch: ModuleType) -> None:
    arrays, options = moved(torch, *inputs("gated delta", n=11))
    arrays = [array.float() for array in arrays]
    options = {name: option.float() for name, option in options.items()}
    wanted = torch.asarray(expected("gated delta", n=11)[0]).float()
    with torch.autocast("cpu", torch.bfloat16):
        for form in (recurrent, chunked):
            output, _ = form(*arrays, **options)
            assert output.dtype == torch.float32
            torch.testing.assert_close(output, wanted, rtol=0.03, atol=0.1)


# Wrong calls that no term of a contract describes


def test_what_does_not_go_together_is_refused() -> None:
    x, y = np.ones((2, 5, 3)), np.ones((2, 5, 7))
    wrong: list[tuple[dict[str, Any], str]] = [
        (
            {"decay": x[..., 0], "is_causal": False},
            "decay: got an array, wanted None without is_ca",
        ),
        ({"decay": y}, "decay: got c = 7 in shape (2, 5, 7), wanted 3"),
        (
            {"feature_map": lambda x: x[..., : 2 + (x < 0).all()]},
            "feature_map: got width 3 for key, wanted 2 as for query",
        ),
        ({"feature_map": lambda x: x[:, :4]}, "feature_map: got shape (2, 4, 3) from (2, 5, 3)"),
    ]
    for options, message in wrong:
        with pytest.raises(ValueError, match="^" + re.escape(message)):
            parallel(x, -x, y, **options)
    with pytest.raises(
        TypeError, match=r"^feature_map: got list from it, wanted an array of numpy"
    ):
        parallel(x, x, y, feature_map=lambda x: x.tolist())
