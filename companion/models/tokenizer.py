"""Text to ids and back, and conversations as text, as the file of a model says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tokenizers
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import decoders, models, pre_tokenizers

if TYPE_CHECKING:
    from companion.models.gguf import GgufFile

_CONTROL = 3
"""The kind of a token that no text is cut into."""


class Tokenizer:
    """Byte-pair encoding (Sennrich et al., 2016) over the bytes of a text, a digit at a time.

    Args:
        file: says the tokens, the merges and the template of conversations.

    Attributes:
        special: ids of the tokens that stand for themselves, by their text.
        eos_id: ends an answer.
        template: of conversations, in Jinja; None if the file has none.

    Raises:
        ValueError: a vocabulary of another kind.
    """

    def __init__(self, file: GgufFile) -> None:
        file.require("tokenizer.ggml.model", "gpt2")
        file.require("tokenizer.ggml.pre", "smollm")
        tokens = file["tokenizer.ggml.tokens"]
        kinds = file["tokenizer.ggml.token_type"]
        ids = {token: number for number, token in enumerate(tokens)}
        merges = [
            tuple(pair.split(" ", 1)) for pair in file["tokenizer.ggml.merges"]
        ]
        self.special = {
            token: ids[token]
            for token, kind in zip(tokens, kinds, strict=True)
            if kind == _CONTROL
        }
        self.eos_id: int = file["tokenizer.ggml.eos_token_id"]
        self.template: str | None = file.get("tokenizer.chat_template")
        self._named = {"eos_token": tokens[self.eos_id]}
        self._bpe = tokenizers.Tokenizer(models.BPE(vocab=ids, merges=merges))
        self._bpe.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False),
            ]
        )
        self._bpe.decoder = decoders.ByteLevel()
        self._bpe.add_special_tokens(list(self.special))

    def __len__(self) -> int:
        return self._bpe.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text; a special token in it becomes its one id."""
        return self._bpe.encode(text, add_special_tokens=False).ids

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids; bytes that are no whole character become U+FFFD."""
        return self._bpe.decode(list(ids), skip_special_tokens=False)

    def chat(
        self,
        messages: str | Sequence[Mapping[str, Any]],
        *,
        answer: bool = True,
    ) -> str:
        """Write a conversation down as the model was trained to read it.

        Args:
            messages: each with "role", one of "system", "user" and "assistant", and "content"; or
                what a user says first.
            answer: end with the words after which the assistant speaks.

        Raises:
            ValueError: the file has no template, or its template refuses the messages.
        """
        if self.template is None:
            raise ValueError(
                "messages: got some, but the model has no template for them"
            )
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        # As Hugging Face's library sets it up.
        jinja = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True
        )
        jinja.globals["raise_exception"] = _refuse
        return jinja.from_string(self.template).render(
            messages=messages, add_generation_prompt=answer, **self._named
        )


def _refuse(reason: str) -> None:
    raise ValueError(f"messages: {reason}")
