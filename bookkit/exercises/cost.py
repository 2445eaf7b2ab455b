"""The exercise of "What it costs"."""

from bookkit.exercises.exercise import Function

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
