"""Pairs, tokens, and files of pairs with everything that can be wrong with them."""

import gzip
import pickle
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from companion.data.pairs import Pair, PairFileError, characters, read_pairs, words


def write(folder: Path, content: bytes | str, name: str = "pairs.tsv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_words() -> None:
    cases: list[Any] = [
        ("Hello, World!", "hello , world !"),
        ("¿Cómo estás?", "¿ cómo estás ?"),
        ("I don't know; it’s 3.50 at 10:30.", "i don't know ; it's 3.50 at 10:30 ."),
        ("twenty-one - two", "twenty-one - two"),
        ("'quoted' end.", "' quoted ' end ."),
        ("Wait...", "wait . . ."),
        ("  tabs\tand\nlines ", "tabs and lines"),
        ("a.b", "a . b"),
        ("हिन्दी, كَتَبَ!", "हिन्दी , كَتَبَ !"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("", ""),
    ]
    for text, tokens in cases:
        assert words(text) == tuple(tokens.split())
    with pytest.raises(TypeError, match="text: got a NoneType"):
        words(None)  # type: ignore[arg-type]


def test_characters_keep_single_spaces_and_decomposed_accents_read_as_composed() -> None:
    assert characters(" Qué  tal ") == ("q", "u", "é", " ", "t", "a", "l")
    decomposed = unicodedata.normalize("NFD", "Días señor")
    assert len(decomposed) > len("Días señor")
    for tokenize in (words, characters):
        assert tokenize(decomposed) == tokenize("días señor")


def test_reading_keeps_repeated_pairs_and_ignores_more_fields_and_blank_lines(
    tmp_path: Path,
) -> None:
    path = write(tmp_path, "Go!\t¡Ve!\tCC-BY\tmore\n\n   \none\u2028two\tuno\x0bdos\nGo!\t¡Ve!")
    go = Pair(("go", "!"), ("¡", "ve", "!"))
    # Only a line feed ends a line.
    assert read_pairs(str(path)) == [go, Pair(("one", "two"), ("uno", "dos")), go]


def test_forms_of_a_file(tmp_path: Path) -> None:
    for content in [
        b"\xef\xbb\xbfyes\ts\xc3\xad\n",
        b"yes\ts\xc3\xad\r\n",
        b"yes\ts\xc3\xad",
        gzip.compress(b"yes\ts\xc3\xad\n", mtime=0),
        gzip.compress(b"\xef\xbb\xbfyes\ts\xc3\xad\n", mtime=0),
    ]:
        for name in ["pairs.tsv", "pairs.tsv.gz"]:
            assert read_pairs(write(tmp_path, content, name)) == [Pair(("yes",), ("sí",))]


def test_a_problem_names_file_and_line(tmp_path: Path) -> None:
    cases: list[Any] = [
        (b"a\tb\nno tab\n", 2, "no tab"),
        (b"a\tb\n\n\tb\n", 3, "source side"),
        (b"a\t\n", 1, "target side"),
        (b"a\t  \tnote\n", 1, "target side"),
        (b"\t\n", 1, "source side"),
        (b"a\tb\nse\xf1or\tx\n", 2, "byte 3 (0xf1) is not UTF-8"),
        ("a\tb\n".encode("utf-16"), 1, "not UTF-8"),
        (b"", 1, "without a pair"),
        (b"\n\n\n", 3, "without a pair"),
        (b"\xef\xbb\xbf", 1, "without a pair"),
        (gzip.compress(b"a\tb\nno tab\n", mtime=0), 2, "no tab"),
        (gzip.compress(b"a\tb\n" * 9, mtime=0)[:-4], 10, "damaged gzip"),
        (gzip.compress(b"a\tb\n", mtime=0)[:-8] + b"12345678", 2, "damaged gzip"),
        (b"a\tb\rc\td\r", 1, "carriage return"),
        (b"\x1f\x8bnot gzip at all", 1, "damaged gzip"),
    ]
    for content, line, what in cases:
        path = write(tmp_path, content)
        with pytest.raises(PairFileError) as caught:
            read_pairs(path)
        message = str(caught.value)
        assert message.startswith(f"{path}, line {line}:")
        assert what in message
        assert str(pickle.loads(pickle.dumps(caught.value))) == message


def test_a_side_is_judged_after_tokenising(tmp_path: Path) -> None:
    path = write(tmp_path, "a\tb\n!\tc\n")
    with pytest.raises(PairFileError, match=r"line 2: the source side '!' holds no token"):
        read_pairs(path, tokenize=lambda text: [t for t in words(text) if t.isalpha()])
    with pytest.raises(FileNotFoundError, match=r"nowhere\.tsv"):
        read_pairs(tmp_path / "nowhere.tsv")


def test_max_tokens_counts_either_side(tmp_path: Path) -> None:
    path = write(tmp_path, "a b c\tx\na b\tx y\na\tx y z\n")
    assert [pair.source for pair in read_pairs(path, max_tokens=2)] == [("a", "b")]
    assert len(read_pairs(path, max_tokens=3)) == 3
    with pytest.raises(PairFileError, match=r"line 3: .*3 have more than 1 tokens"):
        read_pairs(path, max_tokens=1)


def test_a_wrong_pair_is_refused() -> None:
    one = frozenset({(0, 1)})
    cases: list[Any] = [
        ({"source": "ab"}, TypeError, "source: got the string"),
        ({"sure": frozenset({(1, 0)})}, ValueError, r"sure: got link \(1, 0\)"),
        ({"possible": frozenset({(-1, 0)})}, ValueError, r"possible: got link \(-1, 0\)"),
        ({"sure": one, "possible": one}, ValueError, r"possible: got \[\(0, 1\)\]"),
        ({"classes": ("noun", "verb")}, ValueError, "classes: got 2 for 1"),
    ]
    good: dict[str, Any] = {"source": ("a", "b"), "target": ("x",)}
    Pair(**good)
    for fields, error, what in cases:
        with pytest.raises(error, match=what):
            Pair(**(good | fields))
