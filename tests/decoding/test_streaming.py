"""Text as it is written: as whole texts are, in whole characters, and nothing is read twice."""

from typing import Any

import pytest
import torch

from companion.decoding import Kept, greedy, sample, stream_tokens
from companion.decoding.streaming import whole_characters
from companion.models.transformer import LanguageModel
from tests.transformers import config_of, each_variant, randomised

PROMPT, OTHER = [4, 5, 6, 7, 8], [4, 5, 6, 9, 10, 11, 7]


def make(variant: str = "llama") -> Any:
    return randomised(LanguageModel(config_of(variant)))


@pytest.mark.parametrize("options", [{}, {"temperature": 0.7, "top_k": 5, "top_p": 0.9}])
def test_tokens_are_those_of_greedy_and_sample(options: dict[str, Any]) -> None:
    model = make()

    def dice() -> dict[str, Any]:
        return options and {**options, "generator": torch.Generator().manual_seed(3)}

    state = model.start(torch.tensor([PROMPT]), max_len=12)
    write = sample if options else greedy
    whole = write(
        model.step, state, batch_size=1, bos_id=state.last, eos_id=13, max_len=12, **dice()
    )
    (wanted,) = whole.sequences()
    assert list(stream_tokens(model, PROMPT, eos_id=13, max_len=12, **dice())) == wanted
    if wanted:  # the first token as the end
        assert not [*stream_tokens(model, PROMPT, eos_id=wanted[0], max_len=12, **dice())]


@each_variant
def test_what_was_read_before_is_not_read_again(variant: str) -> None:
    model, kept, read = make(variant), Kept(20), list[int]()
    model.embedding.register_forward_hook(lambda _, given, out: read.append(given[0].shape[1]))
    for prompt in (PROMPT, [*PROMPT, 9, 10], OTHER, OTHER, OTHER[:2], [3]):
        fresh = [*stream_tokens(model, prompt, eos_id=-1, max_len=5)][:2]
        before, shared = kept.tokens.copy(), 0
        while before[shared : shared + 1] == prompt[shared : shared + 1] != prompt[-1:]:
            shared += 1
        read.clear()
        stream = stream_tokens(model, prompt, eos_id=-1, max_len=5, kept=kept)
        assert [next(stream), next(stream)] == fresh  # and the rest is never asked for
        assert kept.reused == shared
        assert read == [n for n in (len(prompt) - 1 - shared, 1, 1) if n]
        assert kept.tokens == [*prompt, fresh[0]]
        assert {cache.length for cache in kept.caches} == {len(kept.tokens)}


def test_characters_come_whole() -> None:
    def decode(ids: list[int]) -> str:
        return bytes(ids).decode(errors="replace")

    written = "né 中\u200d🙂a\ufffd!".encode() + b"\xff" + "é".encode()[:1]
    pieces = list(whole_characters(written, decode))
    assert pieces == ["n", "é", " ", "中", "\u200d", "🙂", "a", "\ufffd!", "\ufffd\ufffd"]
    assert list(whole_characters([], decode)) == []


def test_prompts_that_do_not_fit_are_refused() -> None:
    model = make()
    with pytest.raises(ValueError, match="prompt: got no token"):
        next(stream_tokens(model, [], eos_id=2))
    with pytest.raises(ValueError, match=r"caches: got 0 tokens and room for 8, .*room for 9"):
        next(stream_tokens(model, PROMPT, eos_id=2, max_len=5, kept=Kept(8)))
    caches = model.decoder.make_caches(1, 9)
    state = model.start(torch.tensor([PROMPT]), max_len=5, caches=caches)
    model.step(state.last, state)
    with pytest.raises(ValueError, match="caches: got 5 tokens and room for 9, wanted at most 4"):
        model.start(torch.tensor([PROMPT]), max_len=5, caches=caches)
