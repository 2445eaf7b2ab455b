"""The checks of the kit, each with what it asks and where the book shows what it finds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from companion.arrays import namespace
from companion.conformance import (
    results,
    scores,
    sequences,
    variations,
    visibility,
)
from companion.conformance._outputs import (
    Flags,
    Function,
    as_heads,
    constant_like,
    fail_if,
    mask_like,
    plain_numbers,
)
from companion.conformance._reference import rows_of_size
from companion.conformance.attention import (
    check_dead_row,
    check_grouped,
    check_heads,
    check_large_scores,
    check_scale,
)
from companion.conformance.signature import (
    DTYPES,
    NotOfferedError,
    RefusedError,
    Subject,
    in_dtype,
)

Run = Callable[[Subject], str | None]
Verdict = Literal["passed", "failed", "refused", "skipped"]

MUSEUM = "implementation/museum_evidence.html"
HEADS, WIDTH = 2, 16
BATCH, LENGTH, WINDOW = 3, 6, 3


@dataclass(frozen=True)
class Check:
    """One question to an attention function.

    Attributes:
        name: as it is selected with pytest's `-k`.
        asks: the question.
        exhibit: heading of the bug museum under which the mistake is shown.
        run: raises an `AssertionError` that hints at the mistake, or `NotOfferedError`; returns
            what was refused.
        after: names of checks whose mistakes this one sees, too; of those only the first speaks.
    """

    name: str
    asks: str
    exhibit: str
    run: Run
    after: str = ""

    @property
    def page(self) -> str:
        """The address of the exhibit, from the root of the book."""
        anchor = re.sub(r"[^a-z0-9]+", "-", self.exhibit.lower()).strip("-")
        return f"{MUSEUM}#{anchor}"


@dataclass(frozen=True)
class Finding:
    """What came of a check.

    Attributes:
        check: the check.
        verdict: "refused" if the function stops with an error of its own, "skipped" if it does not
            offer what is asked for, or if another mistake has to be mended first.
        says: what the check says of a mistake, or why it was not tried in part or at all.
    """

    check: Check
    verdict: Verdict
    says: str = ""

    def __str__(self) -> str:
        """Say it in a line."""
        told = f"{self.verdict:7} {self.check.name}: {self.says or self.check.asks}"
        where = f" [{self.check.exhibit}]" if self.verdict == "failed" else ""
        return told + where


def examine(attention: Subject) -> Iterator[Finding]:
    """Yield what each check finds.

    >>> import torch
    >>> from companion.conformance import subject
    >>> def unscaled(query, key, value):
    ...     return torch.softmax(query @ key.mT, -1) @ value
    >>> for finding in examine(subject(unscaled, arrays="torch")):
    ...     if finding.verdict == "failed":
    ...         print(finding.check.name, "->", finding.check.exhibit)
    scale -> The wrong width
    """
    for check in KIT:
        yield find(check, attention)


def find(check: Check, asked: Subject) -> Finding:
    """Return what a check finds; it is silent where an earlier check has found the cause."""
    if check.name not in asked.found:
        asked.found[check.name] = _found(check, asked)
    finding: Finding = asked.found[check.name]
    return finding


def _found(check: Check, asked: Subject) -> Finding:
    try:
        with np.errstate(all="ignore"):
            told = check.run(asked)
        return Finding(check, "passed", told or "")
    except RefusedError as reason:
        finding = Finding(check, "refused", str(reason))
    except NotOfferedError as reason:
        return Finding(check, "skipped", str(reason))
    except AssertionError as mistake:
        finding = Finding(check, "failed", str(mistake))
    except Exception as error:
        finding = Finding(check, "failed", stopped(error))
    for earlier in KIT:
        if earlier is check:
            break
        waits = earlier.name in (*BASIC, *check.after.split())
        if waits and find(earlier, asked).verdict == "failed":
            return Finding(
                check,
                "skipped",
                f"waits for `{earlier.name}`, which may be why",
            )
    return finding


def stopped(error: Exception) -> str:
    """Say that a call stopped with an error of its own.

    >>> stopped(ValueError("no"))
    'the call stopped with ValueError: no'
    """
    return f"the call stopped with {type(error).__name__}: {error}"


# How the kit calls the function. Inputs of the checks are (b, n, h, d), positions in axis 1.


def _two_inputs(asked: Subject) -> tuple[Any, Any]:
    draw = np.random.default_rng(0)
    # Short vectors: a weight on the own position near 1 would hide the others.
    x, other = 0.5 * draw.normal(size=(2, BATCH, LENGTH, HEADS, WIDTH))
    return constant_like(asked.like, x), constant_like(asked.like, other)


def _turned(x: Any) -> Any:
    """Exchange positions and heads."""
    return namespace(x).permute_dims(x, (0, 2, 1, 3))


def _to_itself(asked: Subject, **options: Any) -> Function:
    """Return a function from x to the attention of x to itself; a mask may come beside x."""
    asked.needs(*options)

    def function(x: Any, mask: Any = None) -> Any:
        masks = {} if mask is None else {"attn_mask": mask}
        heads = _turned(x)
        return _turned(asked(heads, heads, heads, **masks, **options))

    return function


def _with(asked: Subject, *, fourth: str = "", **options: Any) -> Function:
    """Return the function with keywords; a fourth argument may come under its own."""
    asked.needs(*options, *filter(None, [fourth]))

    def function(query: Any, key: Any, value: Any, *more: Any) -> Any:
        named = {fourth: more[0]} if more else {}
        return asked(query, key, value, **named, **options)

    return function


def _called(
    check: Function, *given: Any, fourth: str = "", **options: Any
) -> Run:
    """Ask with the check's own inputs."""

    def run(asked: Subject) -> None:
        function = _with(asked, fourth=fourth, **options)
        check(function, *given, like=asked.like)

    return run


def _on_itself(
    check: Function, *needs: str, inputs: int = 2, **options: Any
) -> Run:
    """Ask with one or two inputs, whose positions attend to each other."""

    def run(asked: Subject) -> None:
        asked.needs(*needs)
        x = _two_inputs(asked)[:inputs]
        check(_to_itself(asked, **options), *x)

    return run


# The checks


def _inputs(asked: Subject) -> None:
    """Call it as plainly as possible, without the copies that it gets elsewhere."""
    given = as_heads(asked.like, *rows_of_size(q=7, k=7))
    before = [plain_numbers(x).copy() for x in given]
    try:
        asked(*given)
    except RefusedError as error:
        raise AssertionError(f"the call stopped with {error}") from error
    asked.plainly(*given)
    for name, x, old in zip(
        ("query", "key", "value"), given, before, strict=True
    ):
        fail_if(
            (plain_numbers(x) != old).any(),
            f"the {name} is changed in place: the caller's next use of it gets other numbers",
        )


def _either_length(check: Function) -> Run:
    """Ask with 5 queries and 7 keys; where that is refused, with 7 of both."""

    def run(asked: Subject) -> str:
        try:
            return check(asked, like=asked.like) or ""
        except RefusedError as error:
            check(asked, like=asked.like, equal=True)
            return f"refused: queries and keys of different number ({error})"

    return run


def _both_masks(asked: Subject) -> None:
    function = _to_itself(asked, is_causal=True)
    x, other = _two_inputs(asked)
    asked.needs("attn_mask")
    allowed: Flags = np.ones((LENGTH, LENGTH), dtype=bool)
    allowed[2:, 1] = False
    mask = mask_like(allowed, x)
    both = allowed & np.tri(LENGTH, dtype=bool)
    visibility.check_influence(lambda x: function(x, mask), x, other, both)


def _padding(asked: Subject) -> None:
    asked.needs("attn_mask")
    function, (x, other) = _to_itself(asked), _two_inputs(asked)

    def padded(x: Any, lengths: Any) -> Any:
        real = np.arange(x.shape[1]) < np.asarray(lengths)[:, None, None, None]
        return function(x, mask_like(real, x))

    sequences.check_padding(padded, x, np.array([4, LENGTH, 2]), other)


def _masks_in_a_batch(asked: Subject) -> None:
    asked.needs("attn_mask")
    function, (x, _) = _to_itself(asked), _two_inputs(asked)

    def masked(x: Any) -> Any:
        """Attend to the half of the keys whose first number is larger: another mask a sequence."""
        first = plain_numbers(x)[:, :, 0, 0]
        allowed = first >= np.median(first, axis=1, keepdims=True)
        return function(x, mask_like(allowed[:, None, None, :], x))

    sequences.check_alone(masked, x)


def _cached(asked: Subject) -> None:
    whole, (x, _) = _to_itself(asked, is_causal=True), _two_inputs(asked)
    how = asked.first_of("offset", "attn_mask")

    def start() -> Callable[[Any], Any]:
        seen: list[Any] = []

        def step(piece: Any) -> Any:
            offset = sum(earlier.shape[1] for earlier in seen)
            seen.append(piece)
            key = _turned(namespace(piece).concat(seen, axis=1))
            options = {"is_causal": True, "offset": offset}
            if how == "attn_mask":
                q, k = piece.shape[1], key.shape[2]
                mask: Flags = np.tri(q, k, offset, dtype=bool)
                options = {"attn_mask": mask_like(mask, piece)}
            return _turned(asked(_turned(piece), key, key, **options))

        return step

    sequences.check_cached(whole, start, x)


def _window(asked: Subject) -> None:
    function = _to_itself(asked, is_causal=True, window=WINDOW)
    visibility.check_reach(function, *_two_inputs(asked), size=WINDOW)


def _grouped(asked: Subject) -> None:
    """Try grouped heads without a keyword, too: many functions see them by the shapes."""
    named: Any = {"enable_gqa": True} if asked.offers("enable_gqa") else {}
    try:
        check_grouped(_with(asked, **named), like=asked.like)
    except RefusedError as error:
        reason = f"it takes no fewer key heads than query heads ({error})"
        raise (error if named else NotOfferedError(reason)) from error


def _masked(keyword: str, check: Function) -> Run:
    """Say first if the mask comes after the softmax: what depends on what would not show it."""

    def run(asked: Subject) -> None:
        asked.needs(keyword)
        variations.check_late_mask(asked, keyword)
        options = {"is_causal": True} if keyword == "is_causal" else {}
        check(_to_itself(asked, **options), *_two_inputs(asked))

    return run


def _causal(function: Function, x: Any, other: Any) -> None:
    visibility.check_causal(function, x, other)
    past: Flags = np.tri(LENGTH, dtype=bool)
    visibility.check_influence(function, x, other, past)


def _large_scores(asked: Subject) -> str:
    check_large_scores(_with(asked), like=asked.like)
    return variations.check_far_scores(asked)


def _weights(asked: Subject) -> None:
    """Some functions give their weights whether they are asked for or not."""
    plainly = asked.plainly(*as_heads(asked.like, *rows_of_size(q=5, k=5)))
    pair = isinstance(plainly, tuple | list) and plainly[1] is not None
    unasked = pair and not asked.offers("need_weights")
    function = asked.plainly if unasked else _with(asked, need_weights=True)
    results.check_weights(function, like=asked.like)


def _dtype(dtype: str) -> Run:
    def run(asked: Subject) -> str:
        like = in_dtype(asked.like, dtype)
        cases = {
            "an average": lambda: results.check_dtype(asked, like=like),
            "random numbers": lambda: variations.check_precision(asked, like),
        }
        if dtype.endswith("16"):
            cases["its range"] = lambda: variations.check_half_edge(
                asked, like
            )
        return variations.tried(cases)

    return run


BASIC = ("inputs", "softmax", "batch", "heads", "permutation", "definition")
"""What all other checks build upon, and each of these upon those before it."""

KIT: tuple[Check, ...] = (
    Check("inputs", "Are its inputs left as they were?", "Not emptied", _inputs),
    Check("softmax", "Do the weights of a query sum to 1?", "The wrong axis",
          _either_length(results.check_sums)),
    Check("batch", "Does a sequence give the same alone as in its batch?", "The wrong axis",
          _on_itself(sequences.check_alone, inputs=1)),
    Check("heads", "Does each head attend by itself?", "A view", _called(check_heads)),
    Check("permutation", "Do positions in another order give the same in that order?", "A view",
          _on_itself(sequences.check_permutation, inputs=1)),
    Check("scale", "Are products divided by the root of a head's width?", "The wrong width",
          _called(check_scale, WIDTH)),
    Check("definition", "Does it compute what a loop in float64 computes?", "The fast path",
          _either_length(results.check_definition), "scale"),
    Check("scale-argument", "Is a scale used that is asked for?", "The wrong width",
          _called(partial(check_scale, scale=0.3), WIDTH, scale=0.3)),
    Check("grouped", "Do consecutive query heads share a key head?", "Tile or repeat", _grouped),
    Check("mask", "Does True in a mask mean: may attend?", "Two libraries",
          _masked("attn_mask", visibility.check_mask)),
    Check("bias", "Is a mask of floating numbers added to the scores?", "Two libraries",
          _called(scores.check_bias, fourth="attn_bias"), "mask"),
    Check("causal", "Does the future stay hidden?", "Upside down",
          _masked("is_causal", _causal)),
    Check("prefixes", "Does a longer text leave its beginning as it was?", "Ties",
          _on_itself(sequences.check_prefixes, inputs=1, is_causal=True), "causal"),
    Check("both-masks", "Does a causal mask go together with another one?", "Upside down",
          _both_masks, "mask causal"),
    Check("first-key", "Does a causal mask begin at the first key?", "First-key corner",
          _called(visibility.check_offset, is_causal=True), "causal"),
    Check("offset", "Does a causal mask begin where it is told to?", "First-key corner",
          _called(partial(visibility.check_offset, offset=2), offset=2, is_causal=True),
          "causal first-key"),
    Check("cached", "Does a text in pieces give what it gives as a whole?", "First-key corner",
          _cached, "mask causal prefixes first-key offset"),
    Check("batch-mask", "Does a sequence keep its mask in a batch of others?", "The wrong axis",
          _masks_in_a_batch, "mask"),
    Check("padding", "Does padding change nothing?", "Looked at", _padding, "mask batch-mask"),
    Check("mask-shapes", "Does a mask of any shape meet its own head and query?",
          "The wrong axis", variations.check_mask_shapes,
          "scale mask bias grouped batch-mask padding"),
    Check("dead-row", "Is a query that may attend to nothing harmless?", "Zero by zero",
          _on_itself(check_dead_row, "attn_mask"), "mask"),
    Check("window", "Does a window of w reach w positions?", "w or w + 1", _window, "causal"),
    Check("large-scores", "Do scores of ten thousand and more come out right?", "Off by one",
          _large_scores, "scale mask causal"),
    Check("sizes", "Do lengths and widths beyond common tiles come out right?", "The fast path",
          variations.check_sizes, "scale causal first-key prefixes"),
    Check("softcap", "Are scores bounded after the scale, before the mask?", "The late cap",
          _called(scores.check_softcap, fourth="softcap", is_causal=True), "causal prefixes"),
    Check("sinks", "Do sinks take their share of every row?", "The missing sink",
          _called(scores.check_sinks, fourth="sinks")),
    Check("weights", "Are the weights those that made the output?", "A row of weights", _weights),
    Check("lse", "Is the log-sum-exp that of the scores?", "A row of weights",
          _called(results.check_lse, need_lse=True)),
    Check("dropout", "Does dropout drop weights, and keep their mean?", "The fast path",
          variations.check_dropout),
    Check("pairs", "Do keywords keep their meaning beside each other?", "The fast path",
          variations.check_pairs, "scale scale-argument grouped mask bias causal prefixes "
          "both-masks first-key offset cached batch-mask padding mask-shapes window softcap sinks "
          "weights lse"),
    Check("gradient", "Is the gradient that of the output?", "The fast path",
          variations.check_gradient, "float64"),
    *(
        Check(dtype, f"Does {dtype} come out as exact as it went in?", "Another type",
              _dtype(dtype), "scale mask causal prefixes large-scores sizes")
        for dtype in DTYPES
    ),
)  # fmt: skip
"""All checks, in the order in which they are reported."""
