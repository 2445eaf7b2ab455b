"""The exercises of "Across devices"."""

import math

from bookkit.exercises.exercise import Function, Several, Value

check_no_mask = Value(
    "The number of the layout that is fastest without a mask: 1, 2 or 3.", right=3,
    mistakes={
        "without a mask no pair is empty, wherever the pieces are": 1,
        "there is nothing to balance: without a mask, every piece has the same work": 2,
    }, otherwise="got {got:g}, wanted 1, 2 or 3",
)  # fmt: skip

LENGTH, DEVICES, KEY_HEADS, WIDTH, NUMBER = 8192, 8, 8, 128, 2
TOKEN = 2 * KEY_HEADS * WIDTH * NUMBER

check_bytes = Several(
    "By hand, for a layer with 8 key heads of width 128 and 2 bytes a number, and a text of 8,192 "
    "tokens on 8 devices.",
    a_token=Value("The bytes of one token's keys and values.", right=TOKEN, mistakes={
        "there are keys and values": TOKEN // 2,
        "every key head has its own": TOKEN // KEY_HEADS,
        "a number takes 2 bytes": 2 * TOKEN,
    }, otherwise="got {got:g} bytes"),
    ring=Value(
        "The bytes that one device sends in the ring, forward.",
        right=(DEVICES - 1) * LENGTH // DEVICES * TOKEN, mistakes={
            "the keys of the last round are not sent on": LENGTH * TOKEN,
            "that is one round; the keys travel seven times": LENGTH // DEVICES * TOKEN,
            "a device has an eighth of the tokens": (DEVICES - 1) * LENGTH * TOKEN,
        }, otherwise="got {got:g} bytes",
    ),
)  # fmt: skip

Part = tuple[float, float]


def _merged(parts: list[Part]) -> float:
    """Blend outputs by their log-sum-exps; a part without keys has -inf."""
    highest = max(lse for _, lse in parts)
    shares = [math.exp(lse - highest) for _, lse in parts]
    return sum(c * share for (c, _), share in zip(parts, shares, strict=True)) / sum(shares)


def _unsafe(parts: list[Part]) -> float:
    total = sum(math.exp(lse) for _, lse in parts)
    return sum(c * math.exp(lse) for c, lse in parts) / total


check_one_merge = Function(
    "`merge_all(parts)`, the output over all devices: from a list of pairs, the output and the "
    "log-sum-exp of each device, to one number. A device without a key has the log-sum-exp -inf.",
    right=_merged,
    cases=[
        ([(0.33, 0.41), (1.27, 2.86)],), ([(2.0, 1.0), (4.0, 1.0), (9.0, -math.inf)],),
        ([(1.0, 900.0), (3.0, 901.0), (5.0, 899.0)],), ([(7.0, -3.0)],),
    ],
    mistakes={
        "outputs count by how large their devices' sums are, not equally":
            lambda parts: sum(c for c, _ in parts) / len(parts),
        "a log-sum-exp is a logarithm: its exponential is the weight":
            lambda parts: sum(c * s for c, s in parts) / sum(s for _, s in parts),
        "the outputs are means already: divide by the sum of the weights":
            lambda parts: sum(c * math.exp(s) for c, s in parts),
    },
    examples={"your function stops with": _unsafe},
    otherwise="got {got:g}, wanted {wanted:g}; if there was an overflow, subtract the largest "
    "log-sum-exp first", rtol=1e-6,
)  # fmt: skip

check_wrong_mask = Value(
    "The number of the cause: 1, 2 or 3.", right=3,
    mistakes={
        "a merge of any parts is exact": 1,
        "with other weights, the outputs would differ without the mask, too": 2,
    }, otherwise="got {got:g}, wanted 1, 2 or 3",
)  # fmt: skip
