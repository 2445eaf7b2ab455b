"""A text as it is written: token by token, and never a part of a character."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from companion.cache import KVCache
from companion.contracts import contract
from companion.decoding.stepwise import chooser

if TYPE_CHECKING:
    from companion.models.tokenizer import Tokenizer
    from companion.models.transformer import LanguageModel
    from companion.models.transformer.language_model import PromptState


@contract(max_len=">= 1")
@dataclass
class Kept:
    """What a model has read, for the next prompt that begins with the same tokens.

    Attributes:
        max_len: most tokens that prompt and answer may have together.
        tokens: what was read, the last answer but its last token included.
        reused: how many of the last prompt's tokens had been read before.
        caches: keys and values of the tokens.
    """

    max_len: int = 2048
    tokens: list[int] = field(default_factory=list)
    reused: int = 0
    caches: Sequence[KVCache] = ()

    def start(
        self, model: LanguageModel, prompt: Sequence[int], max_len: int
    ) -> PromptState:
        """Cut the caches back to what the prompt begins with, and read the rest."""
        if not self.caches:
            self.caches = model.decoder.make_caches(1, self.max_len)
        pairs = zip(self.tokens, prompt[:-1], strict=False)
        same = [old == new for old, new in pairs]
        self.reused = (*same, False).index(False)
        del self.tokens[self.reused :]
        for cache in self.caches:
            cache.cut(self.reused)
        ids = torch.tensor([prompt], device=self.caches[0].device)
        state = model.start(ids, max_len=max_len, caches=self.caches)
        self.tokens[:] = prompt[:-1]
        return state


@contract(max_len=">= 1")
@torch.no_grad()
def stream_tokens(
    model: LanguageModel, prompt: Sequence[int], *, eos_id: int, max_len: int = 256,
    kept: Kept | None = None, temperature: float | None = None, top_k: int | None = None,
    top_p: float | None = None, min_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Iterator[int]:  # fmt: skip
    """Go on from a prompt, and give every token when it is chosen.

    Args:
        model: a language model.
        prompt: ids, at least one.
        eos_id: token that ends the text; it is not given.
        max_len: most tokens that are written.
        kept: what was read for an earlier prompt; it is brought up to date. None keeps nothing.
        temperature: None takes the most probable token; else tokens are drawn, and this and the
            other options are those of `sample`.

    Raises:
        ValueError: an empty prompt, or more tokens than `kept` has room for.
    """
    if not prompt:
        raise ValueError("prompt: got no token, wanted at least one")
    choose: Callable[[Tensor], Tensor] = partial(torch.argmax, dim=-1)
    if temperature is not None:
        choose = chooser(temperature, top_k, top_p, min_p, generator)
    if kept is None:
        kept = Kept(len(prompt) + max_len)
    state = kept.start(model, prompt, max_len)
    last = state.last
    for _ in range(max_len):
        logits, state, _ = model.step(last, state)
        kept.tokens.append(int(last))
        last = choose(logits)
        if last == eos_id:
            return
        yield int(last)


def stream_text(
    model: LanguageModel, tokenizer: Tokenizer, prompt: str, **options: Any
) -> Iterator[str]:
    """Go on from a prompt, and give every piece of text when it is written.

    Args:
        model: a language model.
        tokenizer: its words.
        prompt: what stands before; of a conversation, what `tokenizer.chat` makes of it.
        **options: those of `stream_tokens`: max_len, kept, temperature and so on.
    """
    ids = tokenizer.encode(prompt)
    tokens = stream_tokens(model, ids, eos_id=tokenizer.eos_id, **options)
    return whole_characters(tokens, tokenizer.decode)


def whole_characters(
    tokens: Iterable[int], decode: Callable[[list[int]], str]
) -> Iterator[str]:
    """Give the text of tokens piece by piece: one that ends inside a character waits for the rest.

    >>> list(whole_characters([97, 195, 169], lambda ids: bytes(ids).decode(errors="replace")))
    ['a', 'é']
    """
    waiting: list[int] = []
    for token in tokens:
        waiting.append(token)
        text = decode(waiting)
        if not text.endswith("\ufffd"):
            yield text
            waiting = []
    if waiting:
        yield decode(waiting)
