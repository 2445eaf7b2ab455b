"""The exercises of "Which one is best?: evidence"."""

from collections.abc import Callable

from bookkit.exercises.exercise import Function

ADDED = {"dot": (0, 0), "general": (1, 0), "concat": (2, 1), "local": (2, 1), "additive": (5, 1)}
"""How many matrices (d, d) and vectors (d,) a mechanism adds."""


def _more(**other: tuple[int, int]) -> Callable[[str, int], int]:
    def more(kind: str, d: int) -> int:
        matrices, vectors = (ADDED | other)[kind]
        return matrices * d * d + vectors * d

    return more


check_weights = Function(
    '`more(kind, d)`, how many weights a mechanism adds to a translator without attention: "dot", '
    '"general", "concat", "local" (general in a window around a predicted position) or "additive" '
    "(whose context also enters the decoder's GRU), where all states have width d.",
    right=_more(), cases=[(kind, d) for d in (6, 128) for kind in ADDED], mistakes={
        "the vector v is missing": (_more(concat=(2, 0)), _more(additive=(5, 0))),
        "the matrix meets both vectors, it is (2d, d)": _more(concat=(1, 1)),
        "the prediction has a matrix and a vector of its own": _more(local=(1, 0)),
        "general has a matrix, too": _more(local=(1, 1)),
        "the prediction ends in a vector": _more(local=(2, 0)),
        "the context enters three gates of the GRU": _more(additive=(2, 1)),
        "the GRU has three gates, not one": _more(additive=(3, 1)),
    }, where="more({0!r}, {1}): got {got:g}: ", otherwise="which is not it",
)  # fmt: skip
