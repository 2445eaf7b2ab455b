"""The exercises of "Twice the length"."""

import numpy as np

from bookkit.exercises.exercise import Function, Value

check_share = Function(
    "`share(n, e)`, from the number of tokens and the width to the share of scores and blend in "
    "the work of a block whose feed-forward layer is 4 e wide.",
    right=lambda n, e: n / (6 * e + n), cases=[(7, 12), (512, 64), (1, 3)], mistakes={
        "that is how many times the rest: the share is of all the work, scores and blend included":
            lambda n, e: n / (6 * e),
        "that is the share of the rest": lambda n, e: 6 * e / (6 * e + n),
        "that is the share in the work of attention alone: the feed-forward layer is missing":
            lambda n, e: n / (2 * e + n),
        "that is without the projections": lambda n, e: n / (4 * e + n),
        "scores and blend are two products of all pairs": lambda n, e: n / (12 * e + n),
    }, otherwise="share({}, {}): got {got:g}, which is not it",
)  # fmt: skip

_WEIGHTS = 2 * 4096**2 + 2 * 4096 * 1024, 3 * 4096 * 14336

check_half = Value(
    "The length, in tokens, at which a layer of Llama 3.1 8B does half of its work for pairs.",
    right=sum(_WEIGHTS) // (2 * 4096), mistakes={
        "that is n = 6 e, which is right for a plain block only: count these weights": 6 * 4096,
        "keys and values are only 1,024 wide": (4 * 4096**2 + _WEIGHTS[1]) // (2 * 4096),
        "a gated feed-forward layer has three matrices":
            (_WEIGHTS[0] + 2 * _WEIGHTS[1] // 3) // (2 * 4096),
        "the projections are missing": _WEIGHTS[1] // (2 * 4096),
        "a weight costs a token two operations, and a pair costs 4 for each feature":
            (sum(_WEIGHTS) // 4096, sum(_WEIGHTS) // (4 * 4096)),
    }, otherwise="got {got:g}, which is not it",
)  # fmt: skip

POWERS = (([1, 2, 4, 8], 2.0), ([3, 9, 30, 40], 1.5))

check_exponents = Function(
    "`exponents(lengths, times)`, from n lengths and n times to the n - 1 exponents of the power "
    "laws between neighbours.",
    right=lambda lengths, times: np.diff(np.log(times)) / np.diff(np.log(lengths)),
    cases=[(lengths, [5 * n**power + 7 * n for n in lengths]) for lengths, power in POWERS],
    mistakes={
        "that is by how much the time is multiplied: take logarithms":
            lambda n, t: np.exp(np.diff(np.log(t))),
        "divide by the logarithm of the ratio of the lengths": lambda n, t: np.diff(np.log(t)),
        "lengths need not double: divide by the logarithm of their ratio":
            lambda n, t: np.diff(np.log2(t)),
        "time belongs above, length below": lambda n, t: np.diff(np.log(n)) / np.diff(np.log(t)),
        "from each length to the next, not from the first":
            lambda n, t: np.log(np.array(t[1:]) / t[0]) / np.log(np.array(n[1:]) / n[0]),
    }, axes="(n - 1,), one between neighbours", otherwise="exponents({0}, ...): got {got}, not it",
)  # fmt: skip

check_bill = Function(
    "`bill(n, e, h)`, from the number of tokens, the width and the number of heads to the "
    "operations of all products in one forward pass of a block.",
    right=lambda n, e, h: 24.0 * n * e * e + 4.0 * n * n * e,
    cases=[(7, 12, 3), (512, 64, 4), (1, 4, 2)], mistakes={
        "all heads together are e wide, and each of them is e / h":
            lambda n, e, h: 24.0 * n * e * e + 4.0 * h * n * n * e,
        "that is a single head: there are h of them, each e / h wide":
            lambda n, e, h: 24.0 * n * e * e + 4.0 * n * n * e / h,
        "that halves the blend, too: scores and blend cost the same, and each has all heads":
            lambda n, e, h: 24.0 * n * e * e + 2.0 * n * n * e,
        "the projections need no repair: they have no head in them":
            lambda n, e, h: 16.0 * n * e * e + 8.0 * n * e * e / h + 4.0 * n * n * e,
    }, otherwise="bill({}, {}, {}): got {got:g}, which is not it",
)  # fmt: skip
