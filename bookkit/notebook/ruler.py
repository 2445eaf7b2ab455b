"""The interval of a claim on a labelled scale, as inline SVG that takes the page's colours."""

import math
from collections.abc import Iterator
from fractions import Fraction
from html import escape
from itertools import count

from bookkit.records import Claim, exact_decimals, format_number

_LEFT, _RIGHT, _AXIS = 10, 310, 38
_MOST_TICKS = 5
_NARROWEST_LABEL = 58  # room for the word "claimed"
_MUTED = "var(--am-muted, currentColor)"
_MARK = "var(--am-mark, #a87b0a)"
_PETROL = "var(--am-petrol, #2f8593)"  # without the book's style: legible on white and on black


def ticks(claim: Claim) -> tuple[float, ...]:
    """Choose round numbers that span a claim's interval, its threshold and the claimed side.

    >>> from bookkit.records import Claim
    >>> ticks(Claim(claim="", side="above", unit="", runs=(4.0, 5.0, 6.0), mean=5.0,
    ...             interval=(2.5, 7.5), prediction=(0.0, 10.0)))
    (0.0, 2.0, 4.0, 6.0, 8.0)
    """
    low, high = (end(*claim.interval, claim.threshold) for end in (min, max))
    if low == high:  # every run lies on the threshold: any scale will do
        low, high = low - 1, high + 1
    return next(marks for step in _steps(high - low) if (marks := _marks(claim, low, high, step)))


def _steps(span: float) -> Iterator[Fraction]:
    """Yield 1, 2 and 5 times the powers of ten, from the first that could serve."""
    for exponent in count(math.floor(math.log10(span / _MOST_TICKS))):
        yield from (factor * Fraction(10) ** exponent for factor in (1, 2, 5))


def _marks(claim: Claim, low: float, high: float, step: Fraction) -> tuple[float, ...]:
    """Return the multiples of a step that span low to high; none if they are too many."""
    first, last = math.floor(_exact(low) / step), math.ceil(_exact(high) / step)
    # The claimed side shows, even where nothing was measured on it.
    if claim.side == "above" and last * step <= claim.threshold:
        last += 1
    if claim.side == "below" and first * step >= claim.threshold:
        first -= 1
    if last - first >= _MOST_TICKS:
        return ()
    return tuple(float(tick * step) for tick in range(first, last + 1))


def _exact(value: float) -> Fraction:
    return Fraction(str(value))  # one tenth, not the binary number beside it


def ruler(claim: Claim) -> str:
    """Draw a claim's interval on its scale.

    The dashed line is the threshold; the wash beyond it is where the number lies if the claim is
    true.

    >>> from bookkit.records import Claim
    >>> ruler(Claim(claim="", side="above", unit="s", runs=(4.0, 5.0, 6.0), mean=5.0,
    ...             interval=(2.5, 7.5), prediction=(0.0, 10.0))).count("<text")
    6
    """
    marks = ticks(claim)
    decimals = max(map(exact_decimals, marks))

    def x(value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * (value - marks[0]) / (marks[-1] - marks[0])

    parts = [_claimed_side(claim, x(claim.threshold))]
    parts.append(_line(f"M{_LEFT} {_AXIS}H{_RIGHT}", _MUTED))
    for mark in marks:
        parts.append(_line(f"M{x(mark):.1f} {_AXIS}v5", _MUTED))
        parts.append(_text(x(mark), _AXIS + 18, format_number(mark, decimals), "middle"))
    parts.append(_line(f"M{x(claim.threshold):.1f} 2V{_AXIS}", _MUTED, dash="3 3"))
    if claim.threshold not in marks:
        number = format_number(claim.threshold, exact_decimals(claim.threshold))
        parts.append(_text(x(claim.threshold), -4, number, "middle"))
    low, high = map(x, claim.interval)
    parts.append(_line(f"M{low:.1f} 24H{high:.1f}", _MARK, width=2.5))
    parts.append(
        f'<rect x="{x(claim.mean) - 5:.1f}" y="19" width="10" height="10" fill="{_PETROL}"/>'
    )
    parts.append(_line(f"M{low:.1f} 17v14M{high:.1f} 17v14", _MARK, width=2.5))
    label = escape(_in_words(claim, marks, decimals), quote=True)
    top = 0 if claim.threshold in marks else 16
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {-top} 320 {60 + top}" role="img"'
        f' aria-label="{label}">{"".join(parts)}</svg>'
    )


def _claimed_side(claim: Claim, threshold: float) -> str:
    above = claim.side == "above"
    start, stop = (threshold, _RIGHT) if above else (_LEFT, threshold)
    wash = (
        f'<rect x="{start:.1f}" y="2" width="{stop - start:.1f}" height="{_AXIS - 2}"'
        f' fill="{_PETROL}" fill-opacity="0.1"/>'
    )
    if stop - start < _NARROWEST_LABEL:
        return wash
    x, anchor = (start + 5, "start") if above else (stop - 5, "end")
    return wash + _text(x, 13, "claimed", anchor, size=11)


def _line(path: str, color: str, *, width: float = 1, dash: str = "") -> str:
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<path d="{path}" stroke="{color}" stroke-width="{width}" fill="none"{dashes}/>'


def _text(x: float, y: float, text: str, anchor: str, *, size: int = 12) -> str:
    return (
        f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}" font-size="{size}"'
        f' fill="{_MUTED}">{text}</text>'
    )


def _in_words(claim: Claim, marks: tuple[float, ...], decimals: int) -> str:
    low, high = (format_number(end, claim.digits) for end in claim.interval)
    first, last = (format_number(end, decimals) for end in (marks[0], marks[-1]))
    return (
        f"{claim:value}, 95 % interval {low} to {high}, on a scale from {first} to {last}; "
        f"claimed: {claim.claimed}"
    )
