"""The exercises of "A picture is a sentence of patches"."""

from typing import Any

import numpy as np

from bookkit.exercises.answers import Numbers, refuse
from bookkit.exercises.exercise import Function, Several, Value

check_noticed = Several(
    "Whether a bag of patches of 2 x 2 pixels can notice each of four changes: True or False.",
    halves=Value("halves", right=False, mistakes={
        "the cut runs between two rows of patches: they change places, and none of them changes":
            True,
    }),
    mirror=Value("mirror", right=True, mistakes={
        "the patches change places, but each is mirrored as well: other patches than before":
            False,
    }),
    two=Value("two", right=False, mistakes={
        "two pixels are a whole patch: all patches move on by one, and none of them changes":
            True,
    }),
    one=Value("one", right=True, mistakes={
        "one pixel is half a patch: the cuts fall elsewhere, so the patches are other ones":
            False,
    }),
)  # fmt: skip

check_sizes = Several(
    "Of pictures of 224 x 224 pixels of three colours in patches of 16 x 16: how many patches, how "
    "many numbers in each, and by what factor the pairs grow at 448 x 448.",
    patches=Value("patches", right=196, mistakes={
        "there are 14 in a row, and 14 rows": 14,
        "the class token is no patch": 197,
        "a patch has 16 pixels in each direction: divide twice": 224 * 224 // 16,
    }, otherwise="got {got:g}: how many patches fit into a row, and how many rows are there?"),
    numbers=Value("numbers", right=768, mistakes={
        "every pixel has three colours": 256,
        "a patch has 16 rows of 16 pixels": 48,
    }, otherwise="got {got:g}: how many pixels has a patch, and how many numbers has each?"),
    pairs=Value("pairs", right=16, mistakes={
        "that is how many times more patches there are; pairs grow with the square": 4,
        "twice as high and twice as wide: four times as many patches": 2,
    }, otherwise="got {got:g}: how many times more patches, and what does that do to pairs?"),
)  # fmt: skip


def _patches(image: Numbers, size: int, *axes: int) -> Numbers:
    """Cut a picture into (down, row, across, column), and write that in some order."""
    height, width = image.shape
    cut = image.reshape(height // size, size, width // size, size)
    return cut.transpose(axes or (0, 2, 1, 3)).reshape(-1, size * size)


check_patches = Function(
    "`patches(image, size)`, from (height, width) to (patches, size * size), row by row, and row "
    "by row within a patch.",
    right=_patches, cases=[
        (np.arange(h * w, dtype=np.float64).reshape(h, w), size)
        for h, w, size in ((6, 4, 2), (6, 9, 3))
    ], mistakes={
        "a reshape alone cuts lines of pixels, not squares": lambda x, s: x.reshape(-1, s * s),
        "patches go row by row: the one at the right of the first is the second":
            lambda x, s: _patches(x, s, 2, 0, 1, 3),
        "within a patch, pixels go row by row": lambda x, s: _patches(x, s, 0, 2, 3, 1),
    },
)  # fmt: skip


def _numbered(got: Any, *_: Any) -> list[int]:
    try:
        return sorted(int(one) for one in got)
    except (TypeError, ValueError):
        refuse(got, "a list of numbers of patches")


ROW = np.array([0.30, 0.05, 0.02, 0.20, 0.03, 0.11, 0.09, 0.13, 0.07])
FLAT = np.array([0.02, 0.10, 0.30, 0.08, 0.50])

check_most_attended = Function(
    "`most_attended(row, count)`, from the weights of the class token, its own first, the numbers "
    "of the patches with most of them, counted from 0.",
    right=lambda row, count: np.argsort(-row[1:])[:count].tolist(),
    cases=[(ROW, 3), (FLAT, 2)], mistakes={
        "the first weight is that of the class token on itself: leave it out, and count from there":
            lambda row, count: np.argsort(-row)[:count].tolist(),
        "the class token is left out, but still counted: patch 0 has the second weight":
            lambda row, count: (1 + np.argsort(-row[1:])[:count]).tolist(),
        "those are the patches with the least weight":
            lambda row, count: np.argsort(row[1:])[:count].tolist(),
    }, read=_numbered, otherwise="for {} and {} got {got}, which is not it",
)  # fmt: skip
