"""One function, many calls: sizes, masks of every shape, keywords in pairs, gradients, dropout.

Everything is compared with NumPy's float64. What the function refuses is no mistake: a check tells
what was refused, and is refused itself if nothing is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from companion.arrays import is_torch, namespace
from companion.conformance._outputs import (
    TOLERANCE,
    Flags,
    Numbers,
    as_heads,
    as_library,
    constant_like,
    fail_if,
    farthest,
    plain_numbers,
)
from companion.conformance._reference import (
    answer,
    attend,
    off_by,
    rows_of_size,
    weigh,
)
from companion.conformance.signature import (
    CRASHES,
    NotOfferedError,
    RefusedError,
    Subject,
)

Options = dict[str, Any]
Guesses = Iterable[tuple[Numbers, str]]


def tried(cases: Mapping[str, Callable[[], object]]) -> str:
    """Run the cases; return what was refused.

    Raises:
        RefusedError: everything was.
    """
    refused: dict[str, Exception] = {}
    for name, case in cases.items():
        try:
            case()
        except (RefusedError, *CRASHES) as error:
            refused[name] = error
    if not refused:
        return ""
    first = next(iter(refused.values()))
    if len(refused) == len(cases):
        raise first
    more = f" and {len(refused) - 2} more" if len(refused) > 2 else ""
    return f"refused: {'; '.join([*refused][:2])}{more}: {first}"


def _compare(
    wanted: Numbers, came: Numbers, told: str, guesses: Guesses, hint: str
) -> None:
    """Fail if an output is not as wanted, with the hint of the first guess that it is like."""
    far = farthest(wanted, came)
    if far <= TOLERANCE:
        return
    told = f"{told}: differs from float64 by up to {far:.2g}"
    for mistaken, why in guesses:
        fail_if(farthest(mistaken, came) <= TOLERANCE, f"{told}: {why}")
    raise AssertionError(f"{told}: {hint}")


def _causal_or_not(asked: Subject) -> list[Options]:
    return [{}, {"is_causal": True}] if asked.offers("is_causal") else [{}]


# Sizes

SIZES: tuple[dict[str, int], ...] = (
    {"q": 1, "k": 5}, {"q": 7, "k": 7, "d": 3}, {"q": 70, "k": 251, "d": 80},
    {"q": 70, "k": 251, "d": 80, "v": 48}, {"q": 251, "k": 70}, {"q": 5, "k": 5, "d": 264},
    {"q": 509, "k": 509}, {"q": 3, "k": 4093, "d": 8}, {"q": 1031, "k": 3, "d": 8},
)  # fmt: skip
"""Beyond the tiles that are common, and no multiple of one."""
TILES = (8, 16, 32, 64, 128, 256, 512, 1024, 2048)


def check_sizes(asked: Subject) -> str:
    """Check lengths and widths beyond common tiles, causal and not."""
    cases = {}
    for size, options in product(SIZES, _causal_or_not(asked)):
        told = ", ".join(f"{axis} = {n}" for axis, n in size.items())
        told += ", causal" if options else ""
        cases[told] = partial(_check_size, asked, told, size, options)
    return tried(cases)


def _check_size(
    asked: Subject, told: str, size: dict[str, int], options: Options
) -> None:
    given = as_heads(asked.like, *rows_of_size(b=1, h=2, **size))
    wanted, came = attend(*given, **options), answer(asked, given, options)
    wrong = ~np.isclose(wanted, came, atol=1e-4).all((0, 1, 3))
    hint = (
        f"at {wrong.sum()} of {len(wrong)} queries, though shorter texts are right: is what was "
        f"summed rescaled, and so the sum of weights, each time the largest score grows?"
    )
    if wrong[0] < wrong[-1] and wrong[wrong.argmax() :].all():
        hint = f"from query {wrong.argmax()} on: is the last, partial tile of queries computed?"
    _compare(wanted, came, told, _cut(given, options), hint)


def _cut(given: list[Any], options: Options) -> Guesses:
    query, key, value = given
    k, d = key.shape[-2:]
    for tile in TILES:
        if k % tile < k:
            keys, values = (x[..., : k - k % tile, :] for x in (key, value))
            whole = attend(query, keys, values, **options)
            yield whole, f"the last, partial tile of {tile} keys is dropped"
        if tile < d:
            first = query[..., :tile], key[..., :tile], value
            part = attend(*first, scale=d**-0.5, **options)
            yield part, f"products are of the first {tile} features only"


# Masks

MASKS = "q k, 1 1 q k, b 1 q k, 1 h q k, b h q k, h q k, b 1 1 k, b h 1 k, 1 1 1 k, k"


def check_mask_shapes(asked: Subject) -> str:
    """Check masks of every shape that broadcasts to (b, h, q, k), of booleans and of numbers."""
    kinds = {"attn_mask": "booleans", "attn_bias": "numbers"}
    kinds = {name: kind for name, kind in kinds.items() if asked.offers(name)}
    grouped = [{}, {"enable_gqa": True}] if asked.offers("enable_gqa") else [{}]  # fmt: skip
    asked.needs(*([] if kinds else ["attn_mask"]))
    cases = {}
    for one in product(MASKS.split(", "), kinds, grouped, (5, 7)):
        axes, keyword, options, q = one
        told = f"a mask of {kinds[keyword]} ({axes.replace(' ', ', ')})"
        told += " with grouped heads" if options else ""
        cases[f"{told}, q = {q}"] = partial(_check_mask, asked, told, *one)
    return tried(cases)


def _check_mask(
    asked: Subject, told: str, axes: str, keyword: str, options: Options, q: int
) -> None:  # fmt: skip
    sizes = {"b": 2, "h": 4 if options else 3, "q": q, "k": 7, "1": 1}
    shape = [sizes[axis] for axis in axes.split()]
    mask: Any = np.random.default_rng(3).normal(size=shape)
    if keyword == "attn_mask":
        mask = (mask > 0) | (np.arange(7) == 2)
    h = sizes["h"]
    rows = rows_of_size(b=2, h=h, g=2 if options else h, q=q, k=7)
    given = as_heads(asked.like, *rows)
    came = answer(asked, given, {keyword: mask, **options})
    full = np.broadcast_to(mask, (2, h, q, 7))
    nothing = mask | True if keyword == "attn_mask" else 0 * mask
    guesses = (
        (attend(*given, **{keyword: other}), hint)
        for other, hint in (
            (nothing, "it changes nothing"),
            (full[:1], "the first sequence's mask is taken for all"),
            (full[:, :1], "the first head's mask is taken for all"),
            (full[:, :, :1], "the first query's row is taken for all"),
            (full[:, ::-1], "a head gets another head's mask"),
            (full[::-1], "a sequence gets another sequence's mask"),
        )
    )
    wanted = attend(*given, **{keyword: mask})
    _compare(wanted, came, told, guesses, "does it meet the scores' own axes?")


def check_late_mask(asked: Subject, keyword: str) -> None:
    """Fail if what is forbidden is taken out in the wrong place: after the softmax."""
    allowed: Flags = np.tri(6, dtype=bool)
    given = as_heads(asked.like, *rows_of_size(b=1, h=2, q=6, k=6))
    options = {keyword: True if keyword == "is_causal" else allowed}
    came = answer(asked, given, options)
    query, key, value = map(plain_numbers, given)
    scores = query.shape[-1] ** -0.5 * query @ key.mT
    late = weigh(query, key)[0] * allowed
    zeroed = weigh(query, key, attn_bias=-scores * ~allowed)[0]
    what = "the causal mask" if keyword == "is_causal" else "the mask"
    for weights, hint in (
        (late, "comes after the softmax: what is forbidden still counts in the sum of weights"),
        (zeroed, "is multiplied with the scores: a forbidden score is -inf, and not 0"),
    ):  # fmt: skip
        fail_if(farthest(weights @ value, came) <= TOLERANCE, f"{what} {hint}")


# Keywords in pairs


def _keywords(asked: Subject, q: int) -> dict[str, Options]:
    dice = np.random.default_rng(4)
    allowed = (dice.random((2, 1, q, 7)) < 0.5) | np.eye(q, 7, dtype=bool)
    sample: dict[str, Options] = {
        "is_causal": {"is_causal": True},
        "attn_mask": {"attn_mask": allowed},
        "attn_mask of numbers": {"attn_bias": dice.normal(size=(2, 4, q, 7))},
        "scale": {"scale": 0.4},
        "enable_gqa": {"enable_gqa": True},
        "softcap": {"softcap": 1.5},
        "sinks": {"sinks": dice.normal(size=4)},
        "window": {"is_causal": True, "window": 3},
        "offset": {"is_causal": True, "offset": 2},
        "need_weights": {"need_weights": True},
        "need_lse": {"need_lse": True},
    }
    return {
        name: options
        for name, options in sample.items()
        if all(map(asked.offers, options))
    }


def check_pairs(asked: Subject) -> str:
    """Check each keyword alone and every two of them at once."""
    offered, wrong = _keywords(asked, 5), dict[tuple[str, ...], float]()
    if not offered:
        raise NotOfferedError("its signature has no keyword of the kit")

    def run(together: tuple[str, ...], q: int) -> None:
        if any(set(one) < set(together) for one in wrong):
            return
        options: Options = {}
        for name in together:
            options |= _keywords(asked, q)[name]
        # As many sequences as key heads: an axis that is taken for the other one fits.
        g = 2 if "enable_gqa" in options else 4
        far = off_by(asked, rows_of_size(b=2, h=4, g=g, q=q, k=7), **options)
        if far > TOLERANCE:
            wrong[together] = max(far, wrong.get(together, 0.0))

    pairs = set(combinations(offered, 2))
    if "attn_bias" not in asked.names:
        pairs -= {("attn_mask", "attn_mask of numbers")}
    named = [*((name,) for name in offered), *sorted(pairs)]
    told = tried({
        f"{' with '.join(names)}, q = {q}": partial(run, names, q)
        for names, q in product(named, (5, 7))
    })  # fmt: skip
    differ = [
        f"{' with '.join(names)} differs from float64 by up to {far:.2g}"
        for names, far in wrong.items()
    ]
    fail_if(differ, "; ".join(differ))
    return told


# Numbers at the edge


def check_far_scores(asked: Subject) -> str:
    """Check scores below -1e5: neither clipped, nor below what a forbidden score becomes."""
    # Scores of -2 ** 18 and one more, exact in float32.
    large, step = 2.0**10, 2.0**-8
    keys = np.array([[-large], [step - large], [0.0]]) * np.eye(1, 16)
    query = large * np.eye(1, 16) * np.ones((3, 1))
    return _check_edge(asked, asked.like, query, keys, "scores below -1e5")


def check_half_edge(asked: Subject, like: Any) -> str:
    """Check products of half precision that are too large before they are scaled."""
    query, ones = np.full((3, 64), 48.0), np.ones((1, 64))
    cases = {}
    for factors, told, hint in (
        ([1, 0.75, -1], "products of 147,456, and of 18,432 once scaled,",
         "scale the query before the product, or keep scores in float32"),
        ([-1, -0.75, 0], "scores of -18,432", ""),
    ):  # fmt: skip
        given = like, query, 48 * np.array([factors]).T * ones
        told = f"in {like.dtype} {told}"
        cases[told] = partial(_check_edge, asked, *given, told, hint)
    return tried(cases)


def _check_edge(
    asked: Subject, like: Any, query: Numbers, key: Numbers, told: str, hint: str = "",
) -> str:  # fmt: skip
    """Look at the first two of three queries; in a mask they do not see the third key."""
    value = np.array([[1.0], [2.0], [9.0]]) * np.ones_like(query)
    allowed: Flags = np.tri(3, dtype=bool)

    def run(size: int, options: Options) -> None:
        rows = (x[:size] for x in (query, key, value))
        given = as_heads(like, *rows)
        came = answer(asked, given, options)[:, :, :2]
        far = farthest(attend(*given, **options)[:, :, :2], came)
        clipped = "are scores clipped, or is the largest one looked for from a finite number on?"
        leaks = "is a forbidden score -inf, and not a large negative number?"
        why = leaks if options else hint or clipped
        fail_if(far > 0.03, f"{told} differ from float64 by {far:.2g}: {why}")

    cases = {"plain": partial(run, 2, {})}
    for options in ({"is_causal": True}, {"attn_mask": allowed}):
        if all(map(asked.offers, options)):
            cases[f"{[*options]}"] = partial(run, 3, options)
    return tried(cases)


def check_precision(asked: Subject, like: Any) -> str:
    """Check random numbers in a dtype, beyond a tile, causal and not."""
    kind = namespace(like).finfo(like.dtype)
    rounding, most = float(kind.eps), 32 if kind.bits < 32 else 256

    def run(options: Options) -> None:
        far = off_by(
            asked, rows_of_size(b=1, h=2, q=70, k=70), like, **options
        )
        fail_if(
            far > most * rounding,
            f"in {like.dtype} it differs from float64 by {far:.2g}, {far / rounding:.0f} "
            f"roundings: another path for this dtype, or sums that are kept in it?",
        )

    causal = _causal_or_not(asked)
    return tried({f"{one}": partial(run, one) for one in causal})


# Gradients


def check_gradient(asked: Subject) -> str:
    """Check gradients against difference quotients of the function's own outputs."""
    if not is_torch(asked.like):
        raise NotOfferedError("its arrays have no gradients")
    small, large = {"q": 7, "k": 7, "d": 8}, {"q": 70, "k": 251, "d": 20}
    cases: dict[str, tuple[dict[str, int], Options]] = {
        "": (small, {}),
        "longer texts": (large, {}),
    }
    for name, options in _keywords(asked, 7).items():
        if "need" not in name:
            cases[name] = small, options
    return tried({
        name: partial(_check_slopes, asked, name, *case)
        for name, case in cases.items()
    })  # fmt: skip


def _check_slopes(
    asked: Subject, where: str, size: dict[str, int], options: Options
) -> None:
    g = 2 if "enable_gqa" in options else 4
    rows = rows_of_size(b=2, h=4, g=g, **size)
    numbers: Options = dict(zip(("query", "key", "value"), rows, strict=True))
    fixed = dict(options)
    for name in fixed.keys() & {"attn_bias", "sinks"}:
        numbers[name] = fixed.pop(name)
    told = f" with {where}" if where else ""
    try:
        _compare_slopes(asked, asked.like.double(), numbers, fixed, told)
    except RefusedError:
        _compare_slopes(asked, asked.like, numbers, fixed, told)


def _compare_slopes(
    asked: Subject, like: Any, numbers: Options, fixed: Options, where: str
) -> None:
    import torch

    def output(numbers: Options) -> Any:
        """Tensors stay as they are; the rest becomes one."""
        given = {
            name: x if is_torch(x) else constant_like(like, x)
            for name, x in numbers.items()
        }
        return asked(
            **given, **{name: as_library(like, x) for name, x in fixed.items()}
        )

    leaves = {
        name: constant_like(like, x).requires_grad_()
        for name, x in numbers.items()
    }
    came, dice = output(leaves), np.random.default_rng(5)
    if not came.requires_grad:
        raise NotOfferedError("it gives no gradient")
    by = dice.normal(size=tuple(came.shape))
    slopes = torch.autograd.grad(
        (came * constant_like(like, by)).sum(), [*leaves.values()], allow_unused=True
    )  # fmt: skip
    root = numbers["query"].shape[-1] ** 0.5
    for (name, x), slope in zip(numbers.items(), slopes, strict=True):
        towards = dice.normal(size=x.shape)
        towards *= 0.01 / np.linalg.norm(towards)
        up, down = (
            (plain_numbers(output(numbers | {name: x + step})) * by).sum()
            for step in (towards, -towards)
        )
        wanted, told = (up - down) / 2, f"the gradient of `{name}`{where}"
        got = 0.0 if slope is None else (plain_numbers(slope) * towards).sum()
        if abs(got - wanted) <= 1e-2 * abs(wanted) + 2e-5:
            continue
        for factor, hint in (
            (0.0, "is missing: is it detached, or left out of the own backward?"),
            (root, "lacks the scale"), (1 / root, "has the scale twice"),
            (-1.0, "has the wrong sign"),
        ):  # fmt: skip
            same = math.isclose(got, factor * wanted, rel_tol=0.05)
            fail_if(same, f"{told} {hint}")
        raise AssertionError(
            f"{told} is wrong: by it outputs change by {got:.3g} where they change by {wanted:.3g}"
        )


# Dropout


def check_dropout(asked: Subject) -> str:
    """Check that dropout drops as many weights as it is told, and keeps the mean."""
    asked.needs("dropout_p")
    switch = getattr(asked.function, "train", lambda on: None)
    switch(True)
    rates = 0.0, 0.2, 0.5
    cases = {f"{p}": partial(_check_dropped, asked, p) for p in rates}
    try:
        return tried(cases)
    finally:
        switch(False)


def _check_dropped(asked: Subject, p: float) -> None:
    n, told = 64, f"dropout_p={p}"
    nothing = np.zeros((2, 2, n, 2 * n))
    # Each output is a weight, and has a twin.
    value = np.tile(np.eye(n), (2, 2, 1, 2))
    given = as_heads(asked.like, nothing, nothing, value)
    output = n * answer(asked, given, {"dropout_p": p})
    same = bool(np.abs(output - 1).max() < 1e-4)
    if p == 0:
        return fail_if(not same, f"{told} changes the output")
    fail_if(same, f"{told} changes nothing: it is ignored")
    weights, twins = output[..., :n], output[..., n:]
    share, rest = float((weights == 0).mean()), weights[weights != 0].mean()
    for mistaken, hint in (
        ((weights != twins).any(), "drops outputs, or parts of values, instead of weights"),
        (share == 0, "drops no weight: is it applied to scores?"),
        (np.ptp(weights.mean(-1)) < 1e-3,
         "keeps the sum of every row: what is left is normalised anew"),
        (abs(share - 1 + p) < 0.03 < abs(share - p),
         f"drops {share:.0%} of the weights: it keeps what it should drop"),
        (abs(share - p) > 0.03, f"drops {share:.0%} of the weights, wanted {p:.0%}"),
        (abs(rest * (1 - p) - 1) > 0.03,
         f"multiplies what is left by {rest:.3g}, wanted 1 / (1 - p), so the mean is not kept"),
        *(
            (np.ptp(weights, axis=axis).max() == 0, f"drops the same weights for every {name}")
            for axis, name in enumerate(("sequence", "head", "query"))
        ),
    ):  # fmt: skip
        fail_if(mistaken, f"{told} {hint}")
