"""The exercises of "Which attention shall I take?"."""

from collections.abc import Sequence

import numpy as np

from bookkit.exercises.answers import Numbers, as_number
from bookkit.exercises.exercise import Function, Several, Value

GIB = 2**30

check_texts = Value(
    "How many texts of 131,072 tokens fit beside 15 GiB of weights into 80 GiB, where a token "
    "leaves 131,072 bytes in 16 bits and the cache has 8 bits.", right=8,
    mistakes={
        "the weights need room as well, 15 GiB of it": 10,
        "in 8 bits a text takes half as much: 8 GiB": 4,
        "that is in 16 bits, without the weights": 5,
    }, read=as_number, otherwise="divide what is free by what one text takes, and round down",
)  # fmt: skip

LATENT, STATES = 8 * (512 + 64) * 2, 24 * 32 * 128 * 128 * 4

check_by_hand = Several(
    "For 24 layers of state, 32 heads of 128 by 128 numbers in four bytes, and 8 layers that keep "
    "512 + 64 numbers of each token in two bytes.",
    per_token=Value("The bytes that one more token adds.", right=LATENT, mistakes={
        "states do not grow: only 8 layers add something": 4 * LATENT,
        "key and value both come from the one short vector, so nothing is doubled": 2 * LATENT,
        "the small key of 64 numbers for the position is kept, too": 8 * 512 * 2,
        "a number takes two bytes": LATENT // 2,
    }, otherwise="got {got:g} bytes"),
    states=Value("The bytes of all states.", right=STATES, mistakes={
        "that is one layer of state, and there are 24": STATES // 24,
        "a layer has 32 heads, each with a state of its own": STATES // 32,
        "a number of a state takes four bytes": (STATES // 2, STATES // 4),
        "8 of the 32 layers have no state": STATES // 24 * 32,
    }, otherwise="got {got:g} bytes"),
)  # fmt: skip


def _fit(room: int, weights: int, token: int, fixed: int, tokens: int) -> int:
    return max(0, (room - weights) // (token * tokens + fixed))


check_fit = Function(
    "`fit(room, weights, token, fixed, tokens)`, how many texts fit: all in bytes but the length "
    "of a text in tokens. A token leaves `token` bytes, states take `fixed` bytes for each text.",
    right=_fit, cases={
        "a Llama 3.1 8B": (80 * GIB, 15 * GIB, 131_072, 0, 32_768),
        "states as well": (80 * GIB, 15 * GIB, 9_216, 48 * 2**20, 32_768),
        "states alone": (24 * GIB, 15 * GIB, 0, 64 * 2**20, 131_072),
        "weights that do not fit": (8 * GIB, 15 * GIB, 131_072, 0, 32_768),
    }, mistakes={
        "the weights need room as well": lambda r, _, t, f, n: _fit(r, 0, t, f, n),
        "states take room as well, in each text": lambda r, w, t, _, n: _fit(r, w, t, 0, n),
        "every text has states of its own": lambda r, w, t, f, n: _fit(r - f, w, t, 0, n),
        "half a text is none": lambda r, w, t, f, n: max(0, (r - w) / (t * n + f)),
        "if the weights do not fit, no text does, and not fewer than none":
            lambda r, w, t, f, n: (r - w) // (t * n + f),
    }, where="{when}: ", otherwise="{when}: got {got}, wanted {wanted}",
)  # fmt: skip

DICE = np.random.default_rng(7)


def _noticed(
    losses: Numbers, tokens: Sequence[int], window: int, *, seen: bool = False, off: int = 0
) -> float:
    far = []
    for at, token in enumerate(tokens):
        before = [then for then in range(at) if tokens[then] == token]
        near = bool(before) and before[-1] > at - window + off
        far.append(not near if seen else bool(before) and not near)
    return float(np.mean(losses[np.array(far)]))


_TEXT = [3, 5, 3, 7, 5, 5, 9, 3, 1, 7, 5, 9, 9, 3]

check_noticed = Function(
    "`noticed(losses, tokens, window)`, the mean of the losses of those tokens that were in the "
    "text before, but not among the last `window` tokens, their own place the last of them.",
    right=_noticed,
    cases=[(DICE.uniform(0, 5, len(_TEXT)), _TEXT, window) for window in (2, 4)], mistakes={
        "a token that comes for the first time asks for nothing far back":
            lambda losses, tokens, window: _noticed(losses, tokens, window, seen=True),
        "a mean over all tokens is what hid it": lambda losses, *_: float(np.mean(losses)),
        "a window of w holds the token itself and w - 1 before it":
            lambda losses, tokens, window: _noticed(losses, tokens, window, off=-1),
        "that counts each token whose first place was far back, even if it came again since":
            lambda losses, tokens, window: float(np.mean([
                loss for at, loss in enumerate(losses)
                if tokens[at] in tokens[: max(0, at - window + 1)]
            ])),
    }, otherwise="got {got:.3f}, wanted {wanted:.3f}",
)  # fmt: skip
