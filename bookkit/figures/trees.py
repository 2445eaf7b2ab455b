"""A tree of beginnings: which words a search followed, which it left, and where it arrived."""

from collections.abc import Collection, Iterable, Mapping

from matplotlib.axes import Axes

from bookkit.figures.colours import INK, MUTED, PAPER, SERIES, SLATE, letter_color

Words = tuple[str, ...]

_DOTTED = (0, (1, 1.6))
_BEND = 0.3
"""Where a line leaves the height of its parent, in columns before its child."""


def prefix_tree(
    ax: Axes,
    probabilities: Mapping[Words, float],
    *,
    followed: Collection[Words] = (),
    arrived: Mapping[str, Words] | None = None,
    decimals: int = 3,
) -> None:
    """Draw beginnings of sentences from left to right, the more probable branch above.

    Lines to beginnings that a search followed are solid, the others dotted.

    Args:
        ax: where to draw; its axes are hidden.
        probabilities: of every beginning, by its words. The shortest is the root; every other
            has its own beginning, all words but the last, among them.
        followed: the beginnings that were followed.
        arrived: up to four names, "greedy" for one, and the beginning where each search ended:
            the branches to it are drawn in the colour of its series.
        decimals: digits of the probabilities, which stand below the words.

    >>> from matplotlib import pyplot as plt
    >>> _, ax = plt.subplots()
    >>> tree = {("the",): 1.0, ("the", "dog"): 0.6, ("the", "cat"): 0.4}
    >>> prefix_tree(ax, tree, followed=[("the", "dog")], arrived={"greedy": ("the", "dog")})
    """
    arrived = arrived or {}
    root = _checked(probabilities, followed, arrived)
    rows: dict[Words, int] = {}
    _set_rows(root, 0, probabilities, rows)
    first = len(root)
    for words, row in rows.items():
        color = _color(words, arrived)
        if words != root:
            style = "-" if words in followed else _DOTTED
            column, parent = len(words) - first, rows[words[:-1]]
            ax.plot(
                [column - 1, column - _BEND, column - 0.04], [parent, parent, row],
                color=color, linestyle=style, marker="", linewidth=1.4, zorder=1,
            )  # fmt: skip
        name = " ".join(words) if words == root else words[-1]
        _write(ax, len(words) - first, row, name, color, words in (root, *followed))
        if words != root:
            ax.annotate(
                f"{probabilities[words]:.{decimals}f}", (len(words) - first, row), (0, -12),
                textcoords="offset points", color=MUTED, fontsize=9.5, va="center", zorder=3,
            )  # fmt: skip
    for series, (name, words) in enumerate(arrived.items()):
        ax.annotate(
            name, (len(words) - first, rows[words]), (0, 13), textcoords="offset points",
            color=letter_color(SERIES[series]), weight="bold", va="center", annotation_clip=False,
        )  # fmt: skip
    deepest = max(map(len, rows)) - first
    ax.set(xlim=(-0.05, deepest + 0.75), ylim=(max(rows.values()) + 0.7, -0.7))
    ax.set_axis_off()


def _checked(
    probabilities: Mapping[Words, float], followed: Iterable[Words], arrived: Mapping[str, Words]
) -> Words:
    """Return the root."""
    roots = [words for words in probabilities if words[:-1] not in probabilities]
    if len(roots) != 1:
        raise ValueError(
            f"probabilities: got {len(roots)} beginnings without their own, {roots[:3]}, wanted one"
        )
    for words, probability in probabilities.items():
        if not 0 <= probability <= 1:
            raise ValueError(f"probabilities: got {probability} for {words}, wanted 0 to 1")
    if len(arrived) > len(SERIES):
        raise ValueError(f"arrived: got {len(arrived)} searches, wanted at most {len(SERIES)}")
    for name, group in (("followed", followed), ("arrived", arrived.values())):
        for words in group:
            if words not in probabilities:
                raise ValueError(f"{name}: got {words}, wanted beginnings in the tree")
    return roots[0]


def _set_rows(
    words: Words, row: int, probabilities: Mapping[Words, float], rows: dict[Words, int]
) -> None:
    """Give a beginning its row, its most probable branch the same, every other one a row below."""
    rows[words] = row
    branches = [other for other in probabilities if other[:-1] == words and other != words]
    branches.sort(key=lambda branch: -probabilities[branch])
    for number, branch in enumerate(branches):
        _set_rows(branch, row if number == 0 else max(rows.values()) + 1, probabilities, rows)


def _color(words: Words, arrived: Mapping[str, Words]) -> str:
    """Return the colour of the one search that came by; ink for several, slate for none."""
    searches = [n for n, end in enumerate(arrived.values()) if end[: len(words)] == words]
    return SLATE if not searches else SERIES[searches[0]] if len(searches) == 1 else INK


def _write(ax: Axes, column: int, row: int, name: str, color: str, strong: bool) -> None:
    """Write a word on paper, so that the line behind it begins after it."""
    text = ax.text(
        column, row, name,
        color=letter_color(color) if strong else MUTED, va="center", zorder=2,
        bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1.5},
    )  # fmt: skip
    text.set_parse_math(False)
