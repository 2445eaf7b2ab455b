"""The exercises of "Two speeds"."""

from bookkit.exercises.exercise import Function, Several, Value

check_share = Function(
    "`share(weights, cache, b)`, what a batch does to the time of a token where memory alone is "
    "the bound: from the bytes of the weights, those of one sequence's cache and the number of "
    "sequences to the time of a token, as a part of that with one sequence.",
    right=lambda weights, cache, b: (weights + b * cache) / (b * (weights + cache)),
    cases=[(100.0, 10.0, 4), (100.0, 300.0, 16), (50.0, 0.0, 8), (7.0, 2.0, 1)], mistakes={
        "the weights are read once for all, but each sequence has a cache of its own":
            lambda w, c, b: 1 / b,
        "that is the time of a step, which writes b tokens": lambda w, c, b: (w + b * c) / (w + c),
        "that is how many times faster: turn it over": lambda w, c, b: b * (w + c) / (w + b * c),
        "weights are shared, caches are not": lambda w, c, b: (b * w + c) / (b * (w + c)),
    }, otherwise="share({:g}, {:g}, {}): got {got:g}, which is not it",
)  # fmt: skip

WEIGHTS, SPEED = 7.5e9, 100e9

check_pace = Several(
    "By hand: the most tokens a second that a machine can write for one short text, if a model has "
    "7.5 thousand million weights and 100 GB a second come from memory.",
    sixteen=Value("With 16 bits a weight.", right=SPEED / (2 * WEIGHTS), mistakes={
        "16 bits are two bytes": (SPEED / WEIGHTS, SPEED / (16 * WEIGHTS)),
        "that is the time of a token: turn it over": 2 * WEIGHTS / SPEED,
    }, otherwise="got {got:g} tokens a second", rtol=0.03),
    four=Value("With 4 bits a weight.", right=2 * SPEED / WEIGHTS, mistakes={
        "4 bits are half a byte": (SPEED / (4 * WEIGHTS), SPEED / WEIGHTS),
        "that is the time of a token: turn it over": WEIGHTS / (2 * SPEED),
    }, otherwise="got {got:g} tokens a second", rtol=0.03),
)  # fmt: skip

check_longest = Function(
    "`longest(weights, kept, queries, size, ridge)`, the tokens in each cache from which on no "
    "number of texts brings a model to the ridge: from the count of its weights, the numbers that "
    "it keeps of a token, the queries that share a head of keys, the bytes of a number, and the "
    "ridge of the machine, which is above 2 queries / size.",
    right=lambda weights, kept, queries, size, ridge: (
        2 * weights / (kept * (size * ridge - 2 * queries))
    ),
    cases=[(134_479_872, 11_520, 3, 4, 4.75), (1000, 10, 1, 2, 30), (64, 4, 4, 1, 9)], mistakes={
        "the operations for the cache count, too: each of its numbers has 2 for each query":
            lambda w, k, q, s, r: 2 * w / (k * s * r),
        "each number in a cache serves several queries":
            lambda w, k, q, s, r: 2 * w / (k * (s * r - 2)),
        "a weight has two operations for each text":
            lambda w, k, q, s, r: w / (k * (s * r - 2 * q)),
        "a number has `size` bytes": lambda w, k, q, s, r: 2 * w / (k * (r - 2 * q)),
        "with endless texts the weights need not be read: only their operations count":
            lambda w, k, q, s, r: (2 * w - s * w * r) / (k * (s * r - 2 * q)),
    }, otherwise="longest({}, {}, {}, {}, {:g}): got {got:g}, which is not it",
)  # fmt: skip

check_written = Function(
    "`written(weights, cache, texts, bandwidth)`, the most tokens a second in all texts together "
    "where memory is the bound: from the bytes of the weights and of one text's cache, the number "
    "of texts, and bytes a second.",
    right=lambda weights, cache, texts, bandwidth: texts * bandwidth / (weights + texts * cache),
    cases=[(100.0, 10.0, 4, 50.0), (60.0, 30.0, 16, 7.0), (5.0, 1.0, 1, 3.0)], mistakes={
        "the weights are read once for all texts": lambda w, c, b, s: s / (w + c),
        "every text has a cache of its own": lambda w, c, b, s: b * s / (w + c),
        "that is for each text: they write together": lambda w, c, b, s: s / (w + b * c),
    }, otherwise="written({:g}, {:g}, {}, {:g}): got {got:g}, which is not it",
)  # fmt: skip
