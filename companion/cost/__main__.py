"""Print what a model keeps of a text: `python -m companion.cost config.json`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from companion.models.atlas.kept import Kept, bytes_kept
from companion.models.atlas.table import Fields, kept_of, read_fields

Layers = list[tuple[Kept, ...]]


def kind_of(part: Kept) -> str:
    """Name the kind of a part, in the words of the book's calculator."""
    pooled = ("latent", "rotary", "indexer", "pooled", "block")
    if any(word in part.what for word in pooled):
        return "short vectors, each for a token or several"
    if part.tokens is None:
        return "states and inputs of convolutions"
    every = part.limit is None
    return "keys and values of all tokens" if every else "windows"


def bytes_a_token(layers: Layers, itemsize: int = 2) -> float:
    """Return how many bytes each further token adds to a long text."""
    return sum(
        part.numbers * (part.itemsize or itemsize) / part.tokens
        for parts in layers
        for part in parts
        if part.tokens and part.limit is None and part.beyond is None
    )


def report(
    fields: Fields, tokens: int, itemsize: int = 2, *, each: bool = False
) -> Iterator[str]:
    """Say in lines what a model keeps of a text of so many tokens.

    Args:
        fields: of its config.json.
        tokens: length of the text.
        itemsize: bytes of a number in the model's own precision.
        each: say it of each layer, too.
    """
    layers = kept_of(fields)
    whole = [part for parts in layers for part in parts]
    total = bytes_kept(whole, tokens, itemsize=itemsize)
    yield f"{fields.family}: {total:,} bytes of a text of {tokens:,} tokens"
    more = bytes_a_token(layers, itemsize)
    yield f"in a long text, each further token adds {more:,.10g} bytes"
    for kind in sorted({*map(kind_of, whole)}):
        some = [part for part in whole if kind_of(part) == kind]
        share = bytes_kept(some, tokens, itemsize=itemsize)
        yield f"  {kind}: {share:,} bytes, {share / max(total, 1):.0%}"
    if fields.assumed:
        taken = ", ".join(f"{k} {v}" for k, v in fields.assumed.items())
        yield f"not in the file, so the default of Transformers counts: {taken}"
    numbered = zip(
        fields["layer_types"], layers, range(1, len(layers) + 1), strict=True
    )
    for (kind, parts), alike in (
        groupby(numbered, lambda one: one[:2]) if each else ()
    ):
        numbers = [number for *_, number in alike]
        size = bytes_kept(parts, tokens, itemsize=itemsize)
        what = ", ".join(
            f"{part.what} of {part.numbers:,} numbers" for part in parts
        )
        yield f"layers {numbers[0]} to {numbers[-1]}: {kind}, {size:,} bytes each: {what}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, print, and return what the shell is told."""
    parser = argparse.ArgumentParser(
        prog="python -m companion.cost", description=__doc__
    )
    parser.add_argument("file", type=Path, help="a config.json")
    parser.add_argument("--tokens", type=int, default=32_768)
    parser.add_argument("--bytes", type=int, default=2, help="of a number")
    parser.add_argument(
        "--layers", action="store_true", help="each layer, too"
    )
    given = parser.parse_args(arguments)
    if given.tokens < 0 or given.bytes < 1:
        parser.error(
            "wanted --tokens of at least 0, and --bytes of at least 1"
        )
    try:
        config = json.loads(given.file.read_text(encoding="utf-8"))
        fields = read_fields(config, path=str(given.file))
        lines = report(fields, given.tokens, given.bytes, each=given.layers)
        print("\n".join(lines))
    except (OSError, TypeError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
