"""The exercises of "One request"."""

from bookkit.exercises.exercise import Function, Several, Value

check_edited = Value(
    "The number of the answer that you predict: 1, 2 or 3.", right=2,
    mistakes={
        "the keys of every later token, above the first layer, depend on the corrected one": 1,
        "what comes before the correction does not depend on it": 3,
    }, otherwise="got {got:g}, wanted 1, 2 or 3",
)  # fmt: skip

LAYERS, KEY_HEADS, WIDTH, NUMBER, WEIGHTS = 30, 3, 64, 4, 134_515_008
TOKEN = 2 * LAYERS * KEY_HEADS * WIDTH * NUMBER

check_memory = Several(
    "By hand, for a model of 30 layers with nine heads of queries and three of keys and values, "
    "64 wide, with 4 bytes a number and 134,515,008 weights.",
    per_token=Value("The bytes that the cache keeps of a token.", right=TOKEN, mistakes={
        "there are keys and values": TOKEN // 2,
        "keys and values have three heads; the nine of the queries are not kept": 3 * TOKEN,
        "every layer keeps its own": TOKEN // LAYERS,
        "a number takes 4 bytes": TOKEN // NUMBER,
    }, otherwise="got {got:g} bytes"),
    tokens=Value(
        "From how many tokens on the cache takes more memory than the weights.",
        right=NUMBER * WEIGHTS // TOKEN + 1, read=lambda got: round(float(got), -2),
        mistakes={
            "a weight takes 4 bytes, too": WEIGHTS // TOKEN,
            "that is with nine heads of keys": NUMBER * WEIGHTS // (3 * TOKEN),
        }, otherwise="got {got:g} tokens",
    ),
)  # fmt: skip


def _shared(old: list[int], new: list[int]) -> int:
    pairs = zip(old, new[:-1], strict=False)
    return [*(one == other for one, other in pairs), False].index(False)


check_reused = Function(
    "`reused(old, new)`, how many tokens of a new prompt need not be read, if the cache has those "
    "of `old`. Both are lists of ids, and the last token of `new` is always read.",
    right=_shared,
    cases=[([5, 7, 9, 2], [5, 7, 9, 2, 4, 4]), ([5, 7, 9, 2], [5, 8, 9, 2, 4]), ([5, 7, 9], [5, 7]),
           ([], [3, 1]), ([4, 4], [5, 4, 4]), ([1, 2, 3], [1, 2, 3])],
    mistakes={
        "tokens after the first difference depend on it, even if they are the same": (
            lambda old, new: sum(a == b for a, b in zip(old, new[:-1], strict=False)),
        ),
        "the last token of the prompt has to be read: its output is the first word": (
            lambda old, new: _shared(old, [*new, -1]),
        ),
        "the whole old text is only reused if the new one begins with it":
            lambda old, new: len(old),
    }, where="reused({}, {}): ", otherwise="got {got:g}, which is not it",
)  # fmt: skip

check_slow = Value(
    "The number of the cause: 1, 2 or 3.", right=2,
    mistakes={
        "a cache that is too small would stop with an error, or forget the oldest tokens": 1,
        "longer answers change when the last word comes, not the first": 3,
    }, otherwise="got {got:g}, wanted 1, 2 or 3",
)  # fmt: skip
