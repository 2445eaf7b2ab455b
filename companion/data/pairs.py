"""Sentence pairs, and reading them from tab-separated files."""

from __future__ import annotations

import gzip
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from companion.contracts import contract


@dataclass(frozen=True)
class Pair:
    """A sentence and its translation, as tokens, with gold word links where they are known.

    A link is (target index, source index): the row and column of an attention matrix. Sure links
    are those that every annotator would draw; possible ones are acceptable (Och and Ney, 2003).

    Attributes:
        source: tokens of the sentence to translate.
        target: tokens of its translation.
        sure: links that an aligner should find.
        possible: further links that are no error; disjoint from `sure`.
        classes: the word class of every target token, or () where unknown.

    Raises:
        TypeError: `source` or `target` is a string.
        ValueError: a link is out of range or both sure and possible, or `classes` has another
            length than `target`.

    >>> Pair(("red", "house"), ("casa", "roja"), sure=frozenset({(0, 1), (1, 0)})).target
    ('casa', 'roja')
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: frozenset[tuple[int, int]] = frozenset()
    possible: frozenset[tuple[int, int]] = frozenset()
    classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("source", "target"):
            if isinstance(getattr(self, name), str):
                raise TypeError(
                    f"{name}: got the string {getattr(self, name)!r}, wanted tokens"
                )
        q_len, k_len = len(self.target), len(self.source)
        for name in ("sure", "possible"):
            for row, column in getattr(self, name):
                if not (0 <= row < q_len and 0 <= column < k_len):
                    raise ValueError(
                        f"{name}: got link {(row, column)} for {q_len} target and {k_len} source "
                        "tokens, wanted (target index, source index)"
                    )
        if not self.sure.isdisjoint(self.possible):
            raise ValueError(
                f"possible: got {sorted(self.sure & self.possible)}, which are sure already"
            )
        if self.classes and len(self.classes) != q_len:
            raise ValueError(
                f"classes: got {len(self.classes)} for {q_len} target tokens, wanted one each"
            )


class PairFileError(ValueError):
    """A file of sentence pairs breaks the format; the message names the file and the line."""


# A word may hold apostrophes and hyphens (don't, twenty-one), a number dots, commas and colons.
_TOKEN = re.compile(r"\w+(?:(?:['-]|(?<=\d)[.,:](?=\d))\w+)*|[^\w\s]")


def words(text: str) -> tuple[str, ...]:
    """Split text into lower-case words and single punctuation marks.

    Composed and decomposed accents, and straight and curly apostrophes, count as the same. Vowel
    signs and joiners, as in Hindi, Arabic and Persian, are parts of a word.

    Args:
        text: any text.

    >>> words("¿Qué hora es? It's 10:30.")
    ('¿', 'qué', 'hora', 'es', '?', "it's", '10:30', '.')
    """
    said = _normal(text).replace("’", "'")
    letters = said if said.isascii() else "".join(map(_letter, said))
    return tuple(
        said[one.start() : one.end()] for one in _TOKEN.finditer(letters)
    )


def _letter(sign: str) -> str:
    """Let a mark, and what joins letters without a width, count as a letter."""
    joins = unicodedata.category(sign)[0] == "M" or sign in "\u200c\u200d"
    return "a" if joins else sign


def characters(text: str) -> tuple[str, ...]:
    """Split text into lower-case characters; a run of white space is one space, ends are cut.

    Args:
        text: any text.

    >>> characters("Buenos  días")[-5:]
    (' ', 'd', 'í', 'a', 's')
    """
    return tuple(" ".join(_normal(text).split()))


@contract(max_tokens=">= 1")
def read_pairs(
    path: str | PathLike[str],
    *,
    tokenize: Callable[[str], Sequence[str]] = words,
    max_tokens: int | None = None,
) -> list[Pair]:
    r"""Read sentence pairs from a file with one `source<TAB>target` pair a line.

    The file is UTF-8, with or without a byte order mark, plain or compressed by gzip (told by
    its content, whatever its name). Fields after the second are ignored, and so are lines that
    hold nothing but spaces; such a line still counts in line numbers. Repeated pairs are kept.

    Args:
        path: the file.
        tokenize: makes tokens of a side.
        max_tokens: pairs with more tokens on either side are dropped; None keeps all.

    Returns:
        The pairs in the order of the file, without links.

    Raises:
        FileNotFoundError: there is no such file.
        PairFileError: a line is not UTF-8, has fewer than two fields or an empty side, the
            compressed data is damaged, or no pair is left.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.tsv")
    ...     _ = path.write_text("Hello.\tHola.\nGo!\t¡Ve!\tnote\n", encoding="utf-8")
    ...     [pair.target for pair in read_pairs(path)]
    [('hola', '.'), ('¡', 've', '!')]
    """
    pairs, number, dropped = [], 0, 0
    for number, line in enumerate(_lines(Path(path)), start=1):
        if not line.strip(" "):
            continue
        pair = _parse(line, tokenize, f"{path}, line {number}")
        if (
            max_tokens is not None
            and max(len(pair.source), len(pair.target)) > max_tokens
        ):
            dropped += 1
        else:
            pairs.append(pair)
    if not pairs:
        long = f" ({dropped} have more than {max_tokens} tokens)"
        reason = long if dropped else ""
        raise PairFileError(
            f"{path}, line {max(number, 1)}: the file ends without a pair{reason}"
        )
    return pairs


def _normal(text: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"text: got a {type(text).__name__}, wanted a string")
    return unicodedata.normalize("NFC", text.lower())


def _parse(
    line: str, tokenize: Callable[[str], Sequence[str]], where: str
) -> Pair:
    fields = line.split("\t")
    if len(fields) < 2:
        raise PairFileError(
            f"{where}: got no tab in {line[:60]!r}, wanted source<TAB>target"
        )
    sides = tuple(tokenize(fields[0])), tuple(tokenize(fields[1]))
    for name, field, tokens in zip(
        ("source", "target"), fields, sides, strict=False
    ):
        if not tokens:
            raise PairFileError(
                f"{where}: the {name} side {field!r} holds no token"
            )
    return Pair(*sides)


def _lines(path: Path) -> Iterator[str]:
    """Yield decoded lines without their ends; only a line feed ends a line."""
    with path.open("rb") as probe:
        opener = gzip.open if probe.read(2) == b"\x1f\x8b" else open
    number = 0
    try:
        with opener(path, "rb") as file:
            for number, raw in enumerate(file, start=1):
                encoding = "utf-8-sig" if number == 1 else "utf-8"
                line = (
                    raw.decode(encoding).removesuffix("\n").removesuffix("\r")
                )
                if "\r" in line:
                    raise PairFileError(
                        f"{path}, line {number}: got a carriage return, wanted line feeds "
                        "between the lines; save the file with the line ends of Unix or Windows"
                    )
                yield line
    except UnicodeDecodeError as error:
        raise PairFileError(
            f"{path}, line {number}: byte {error.start + 1} ({error.object[error.start]:#04x}) "
            "is not UTF-8; save the file as UTF-8"
        ) from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise PairFileError(
            f"{path}, line {number + 1}: damaged gzip data ({error})"
        ) from error
