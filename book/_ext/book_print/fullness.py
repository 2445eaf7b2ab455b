"""How far down each sheet of a PDF is written on, and which parts end on one with hardly a line."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping

from book_print.sheets import objects, sheet_numbers

HEAD, FOOT = 19.0, 18.0  # millimetres of a sheet above and below its text: see print.css
HEIGHT = 297.0
LEAST = 0.12  # of a sheet, that the end of a part should fill

Matrix = tuple[float, float, float, float, float, float]

_STEP = re.compile(rb"(?<!\S)(?:(q|Q)|([-.\d]+(?:\s[-.\d]+){5})\s(cm|Tm))(?!\S)")


def fullness(pdf: bytes) -> list[float]:
    """Return for every sheet the share of its height, 0 to 1, down to its last line of text."""
    bodies = objects(pdf)
    room = HEIGHT - HEAD - FOOT
    shares = []
    for sheet in sheet_numbers(pdf):
        down = [HEIGHT - height * 25.4 / 72 for height in _lines(_content(bodies, sheet))]
        inside = [one - HEAD for one in down if HEAD < one < HEIGHT - FOOT]
        shares.append(max(inside, default=0.0) / room)
    return shares


def ends_alone(pdf: bytes, starts: Mapping[str, int]) -> list[str]:
    """Return the parts whose last sheet is nearly empty, and not their first one.

    Args:
        pdf: a file of Chromium's.
        starts: the first sheet of every part, by name.
    """
    shares = fullness(pdf)
    order = sorted(starts, key=starts.__getitem__)
    ends = [*(starts[name] - 1 for name in order[1:]), len(shares)]
    return [
        name
        for name, end in zip(order, ends, strict=True)
        if end > starts[name] and shares[end - 1] < LEAST
    ]


def _content(bodies: dict[int, bytes], sheet: int) -> bytes:
    """Return the drawing commands of a sheet."""
    named = re.search(rb"/Contents (\d+) 0 R", bodies[sheet])
    assert named is not None, "a sheet without a content"
    packed = bodies[int(named[1])].split(b"stream\n", 1)[1].rsplit(b"endstream", 1)[0]
    return zlib.decompress(packed)


def _lines(commands: bytes) -> Iterator[float]:
    """Yield the height above the foot of the sheet, in points, of every line of text."""
    matrix: Matrix = (1, 0, 0, 1, 0, 0)
    saved: list[Matrix] = []
    for step in _STEP.finditer(commands):
        if step[1] == b"q":
            saved.append(matrix)
        elif step[1] == b"Q":
            matrix = saved.pop()
        else:
            a, b, c, d, e, f = map(float, step[2].split())
            if step[3] == b"Tm":
                yield e * matrix[1] + f * matrix[3] + matrix[5]
            else:
                matrix = _product((a, b, c, d, e, f), matrix)


def _product(inner: Matrix, outer: Matrix) -> Matrix:
    a, b, c, d, e, f = inner
    p, q, r, s, t, u = outer
    return (
        a * p + b * r, a * q + b * s,
        c * p + d * r, c * q + d * s,
        e * p + f * r + t, e * q + f * s + u,
    )  # fmt: skip
