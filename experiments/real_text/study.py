"""A real language model on real texts: caches, narrow numbers, positions, and what it writes.

Each seed is a passage of a book, so that intervals are over texts. The model is
SmolLM2-135M-Instruct as its file of 4.5 bits a weight has it, and nothing is trained.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from itertools import pairwise
from time import process_time
from typing import NamedTuple

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import cross_entropy

from companion.attention import scaled_dot_product_attention
from companion.decoding import greedy
from companion.decoding.stepwise import chooser
from companion.layers import MultiHeadAttention
from companion.masks import sliding_window_mask
from companion.models.smollm import smollm
from companion.models.transformer import LanguageModel
from companion.models.transformer.blocks import Rotary
from companion.models.transformer.language_model import PromptState
from companion.positions import rotary_frequencies, rotate
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS
from experiments.engine.experiment import Arm, Experiment
from experiments.engine.kinds import number, share
from experiments.engine.untrained import untrained
from experiments.texts import passages

Attention = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
Found = Iterator[tuple[str, float]]
"""What a part of the study measures, by names."""


class Case(NamedTuple):
    """A passage, and what is asked of it."""

    text: Tensor  # (n,) ids
    prompts: Mapping[str, Sequence[int]]
    eos_id: int
    seed: int


attend: Attention = partial(scaled_dot_product_attention, enable_gqa=True)


def given(model: LanguageModel, attention: Attention) -> LanguageModel:
    """Return the model with another attention, whose heads share keys as they come."""
    return model.with_attention(attention, repeat_kv=False)


def read(model: LanguageModel, text: Tensor) -> tuple[Tensor, Tensor]:
    """Return the loss of every token of texts (..., n) but the first, and what was likeliest there.

    Both are (..., n - 1).
    """
    rows = text.view(-1, text.shape[-1])
    logits = model(rows[:, :-1]).float().flatten(0, 1)
    lost = cross_entropy(logits, rows[:, 1:].flatten(), reduction="none")
    shape = *text.shape[:-1], -1
    return lost.view(shape), logits.argmax(-1).view(shape)


def mean(model: LanguageModel, text: Tensor) -> float:
    """Return the mean loss of a text's tokens."""
    return float(read(model, text)[0].mean())


def compared(name: str, model: LanguageModel, text: Tensor, likeliest: Tensor) -> Found:
    """Yield the mean loss, and how often of 100 times the same token is the likeliest."""
    lost, same = read(model, text)
    yield f"{name}/loss", float(lost.mean())
    yield f"{name}/same", 100 * float((same == likeliest).float().mean())


def binned(name: str, lost: Tensor, edges: Sequence[int]) -> Found:
    """Yield the mean loss of tokens from each edge to the next, counted from 0, by positions."""
    for start, end in pairwise(edges):
        yield f"{name}/{start}", float(lost[..., start - 1 : end - 1].mean())


# Windows


def near(width: int, first: int) -> Attention:
    """Return attention to the last tokens, the query's own counted, and to the first few."""

    def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        kept = sliding_window_mask(len(mask), left=width - 1, like=query)
        return attend(query, key, value, mask & (kept | (torch.arange(len(mask)) < first)))

    return attention


WINDOWS = ((256, 0), (256, 1), (64, 0), (64, 1), (64, 4), (16, 0), (16, 1))
"""Widths of windows, and how many first tokens stay beside them."""


def windows(model: LanguageModel, case: Case, edges: Sequence[int]) -> Found:
    """Read with windows; the last of the edges is the length, and half of it is averaged."""
    text = case.text[: edges[-1]]
    ways = {"all": attend} | {f"{w}/{first}": near(w, first) for w, first in WINDOWS}
    for name, attention in ways.items():
        lost, _ = read(given(model, attention), text)
        yield f"{name}/loss", float(lost[len(text) // 2 :].mean())
        yield from binned(name, lost, edges)


# Sixteen bits


def largest(model: LanguageModel, text: Tensor) -> tuple[list[tuple[str, float]], list[Tensor]]:
    """Return the largest number after each block, of the first token and of all others.

    Beside it is what `read` gives.
    """
    found: list[tuple[str, float]] = []

    def look(block: int, _module: nn.Module, _given: object, output: tuple[Tensor, ...]) -> None:
        by_token = output[0][0].abs().amax(-1)
        for name, rows in (("first", by_token[:1]), ("others", by_token[1:])):
            found.append((f"{name}/{block}", float(rows.max())))

    hooks = [
        one.register_forward_hook(partial(look, number))
        for number, one in enumerate(model.decoder.blocks, 1)
    ]
    both = read(model, text)
    for hook in hooks:
        hook.remove()
    for name in ("first", "others"):
        most = max(value for one, value in found if one.startswith(name))
        found.append((f"{name}/most", most))
    return found, [*both]


def squared_in_float16(norm: nn.RMSNorm, given: tuple[Tensor], _output: Tensor) -> Tensor:
    """Return what a norm gives whose squares are rounded to float16: infinite from 256 on."""
    (x,) = given
    mean = x.half().square().mean(-1, keepdim=True).float()
    return x * (mean + (norm.eps or 0)).rsqrt() * norm.weight


def narrow(model: LanguageModel, case: Case, length: int, written: int) -> Found:
    """Read and write in sixteen bits, weights and all; see where large numbers arise."""
    text = case.text[:length]
    prompts = text.view(4, -1)[:, : length // 16]
    found, (lost, likeliest) = largest(model, text)
    yield from found
    yield "float32/loss", float(lost.mean())
    own = continued(model, prompts, written)
    for dtype in (torch.bfloat16, torch.float16):
        name, rounded = str(dtype).removeprefix("torch."), deepcopy(model).to(dtype)
        yield from compared(name, rounded, text, likeliest)
        same = (continued(rounded, prompts, written) == own).cumprod(-1).sum(-1)
        yield f"{name}/kept", float(same.float().mean())
    squaring = deepcopy(model)
    for part in squaring.modules():
        if isinstance(part, nn.RMSNorm):
            part.register_forward_hook(squared_in_float16)
    yield "squares/loss", mean(squaring, text)


# Caches in fewer bits


def rounded_to(levels: int, x: Tensor, dim: int) -> Tensor:
    """Round to so many steps on either side of zero, with one scale along an axis."""
    scale = x.abs().amax(dim, keepdim=True) / levels
    return torch.where(scale > 0, x / scale, 0.0).round() * scale


EIGHT, FOUR = 127, 7
"""Steps on either side of zero in eight and in four bits."""
OWN, CHANNEL = -1, -2
"""What has a scale: a head of a token, or a feature of a head. Tensors are (b, g, n, d)."""
Stored = tuple[int, int]
CACHES: dict[str, tuple[Stored | None, Stored | None]] = {
    "8": ((EIGHT, OWN), (EIGHT, OWN)),
    "4": ((FOUR, OWN), (FOUR, OWN)),
    "4/keys": ((FOUR, OWN), None),
    "4/values": (None, (FOUR, OWN)),
    "4/channel": ((FOUR, CHANNEL), (FOUR, OWN)),
}
"""How keys and values are stored; None is in full."""


def storing(how: tuple[Stored | None, Stored | None]) -> Attention:
    """Return attention to keys and values as a cache would give them back."""

    def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        key, value = (
            x if way is None else rounded_to(way[0], x, way[1])
            for way, x in zip(how, (key, value), strict=True)
        )
        return attend(query, key, value, mask)

    return attention


def caches(model: LanguageModel, case: Case, length: int) -> Found:
    """Read with keys and values in fewer bits."""
    text = case.text[:length]
    lost, likeliest = read(model, text)
    yield "full/loss", float(lost.mean())
    for name, how in CACHES.items():
        yield from compared(name, given(model, storing(how)), text, likeliest)


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Return the processor's seconds of one call, without those that other programs took."""
    began = process_time()
    for _ in range(times):
        work()
    return (process_time() - began) / times


def go_on(model: LanguageModel, states: list[PromptState]) -> None:
    """Write a token more, and keep the state after it."""
    states.append(model.step(states[-1].last, states[-1]).state)


def times(model: LanguageModel, case: Case, lengths: Sequence[int], steps: int) -> Found:
    """Time reading, and writing a token with a cache and without, after so many tokens."""
    for length in lengths:
        prompt = case.text[None, : length + 1]
        anew = model.start(prompt, max_len=1, use_cache=False)
        yield f"{length}/anew", seconds(partial(model.step, anew.last, anew))
        kept = [model.start(prompt, max_len=steps + 1)]
        yield f"{length}/kept", seconds(partial(go_on, model, kept), steps)
        for count in (1, 4, 8):
            caches = kept[-1].caches
            assert caches is not None
            for cache in caches:
                cache.cut(length - count)
            read = model.embedding(prompt[:, -count:], offset=length - count)
            passed = seconds(partial(model.decoder, read, caches=caches))
            yield f"{length}/together/{count}", passed


# Positions


def turned(model: LanguageModel, rotary: Callable[[Tensor, Tensor], Tensor]) -> LanguageModel:
    """Return the model with other rotations of queries and keys."""
    model = given(model, attend)
    for part in model.modules():
        if isinstance(part, MultiHeadAttention):
            part.rotary = rotary
    return model


def positions(model: LanguageModel, case: Case, length: int) -> Found:
    """Read with all positions shifted, the other layout, other bases, and other distances."""
    text = case.text[:length]
    base = model.config.rotary_base
    plain, frequencies = (
        Rotary(base, None),
        rotary_frequencies(model.config.width_of_head, base=base),
    )
    ways: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
        "trained": plain,
        "shift/1000": lambda x, at: plain(x, at + 1_000),
        "shift/100000": lambda x, at: plain(x, at + 100_000),
        "layout": partial(rotate, frequencies=frequencies, interleaved=True),
        "base/tenth": Rotary(base / 10, None),
        "halved": lambda x, at: plain(x, at / 2),
        "none": lambda x, at: x,
    }
    for name, rotary in ways.items():
        yield f"{name}/loss", mean(turned(model, rotary), text)


# Loss by position


def lengths(model: LanguageModel, case: Case, edges: Sequence[int], fresh: int) -> Found:
    """Read the whole text, and read it in pieces that know nothing of each other."""
    text = case.text[: edges[-1]]
    lost, _ = read(model, text)
    yield from binned("whole", lost, edges)
    pieces, _ = read(model, text.view(-1, fresh))
    yield from binned("pieces", pieces, [edge for edge in edges if edge <= fresh])
    yield "pieces/loss", float(pieces[1:].mean())
    same = lost[fresh - 1 :].view(-1, fresh)[:, 1:]  # the same tokens, with all before them
    yield "whole/loss", float(same.mean())


# What it writes


def continued(
    model: LanguageModel, prompts: Tensor, longest: int, *ways: Callable[[Tensor], Tensor],
    ends: Sequence[int] = (),
) -> Tensor:  # fmt: skip
    """Continue prompts (b, n) greedily and in other ways at once; return (1 + ways, b, longest).

    Args:
        ways: choose tokens (b,) by their logits (b, vocabulary).
        ends: tokens that are never chosen.
    """
    chosen: list[Callable[[Tensor], Tensor]] = [partial(torch.argmax, dim=-1), *ways]
    state = model.start(prompts.repeat(len(chosen), 1), max_len=longest)
    last, found = state.last, []
    for _ in range(longest):
        logits, state, _ = model.step(last, state)
        logits[:, ends] = -torch.inf
        rows = zip(chosen, logits.chunk(len(chosen)), strict=True)
        last = torch.cat([choose(one) for choose, one in rows])
        found.append(last)
    return torch.stack(found, 1).view(len(chosen), len(prompts), longest)


def repeated(text: Sequence[int], n: int = 4) -> float:
    """Return how many in 100 sequences of n tokens had come before in the text.

    >>> repeated([1, 2, 3, 1, 2, 3], n=2)
    40.0
    """
    every = [tuple(text[i : i + n]) for i in range(len(text) - n + 1)]
    return 100 * (len(every) - len(set(every))) / len(every)


def circles(text: Sequence[int], last: int = 32) -> bool:
    """Tell whether the last tokens are, one by one, those of some steps before.

    >>> circles([5, 1, 2, 1, 2, 1], last=3), circles([5, 1, 2, 3, 2, 1], last=3)
    (True, False)
    """
    end = len(text)
    return any(
        text[end - last :] == text[end - last - back : end - back]
        for back in range(1, end - last + 1)
    )


def looked_up(text: Sequence[int], ahead: int, match: int = 2) -> list[int]:
    """Return the tokens that followed the last two when these came last; none if they did not.

    >>> looked_up([1, 2, 3, 4, 1, 2], ahead=3)
    [3, 4, 1]
    """
    key = text[-match:]
    for end in range(len(text) - 1, match - 1, -1):
        if text[end - match : end] == key:
            return list(text[end : end + ahead])
    return []


def passes(prompt: Sequence[int], answer: Sequence[int], ahead: int) -> int:
    """Return how many passes a greedy answer takes if earlier text is proposed for each.

    A pass checks what is proposed, keeps it up to the first token that differs, and adds one.

    >>> passes([1, 2, 3, 4, 1, 2], [3, 4, 7, 8], ahead=3)
    2
    """
    done = count = 0
    while done < len(answer):
        proposed = looked_up([*prompt, *answer[:done]], ahead)
        pairs = zip(proposed, answer[done:], strict=False)
        done += [*(one == other for one, other in pairs), False].index(False) + 1
        count += 1
    return count


def writing(model: LanguageModel, case: Case, begun: int, longest: int) -> Found:
    """Go on from three places of the text, greedily and drawn with top-p 0.9."""
    prompts = case.text[: 3 * (len(case.text) // 3)].view(3, -1)[:, :begun]
    draw = chooser(1.0, top_p=0.9, generator=Generator().manual_seed(case.seed))
    found = continued(model, prompts, longest, draw, ends=[case.eos_id]).tolist()
    for name, texts in zip(("greedy", "top_p"), found, strict=True):
        yield f"{name}/repeated", sum(map(repeated, texts)) / len(texts)
        yield f"{name}/circles", 100 * sum(map(circles, texts)) / len(texts)
    needed = [passes(*both, 8) for both in zip(prompts.tolist(), found[0], strict=True)]
    yield "greedy/a_pass", longest * len(needed) / sum(needed)


def lookup(model: LanguageModel, case: Case, longest: int) -> Found:
    """Answer greedily, and count what a look into the text so far would have proposed."""
    prompts = list(case.prompts.values())
    sizes = torch.tensor([len(one) for one in prompts])
    padded = torch.tensor([[*one, *[0] * (int(max(sizes)) - len(one))] for one in prompts])
    state = model.start(padded, sizes, max_len=longest)
    answers = greedy(
        model.step, state, batch_size=len(prompts), bos_id=state.last, eos_id=case.eos_id,
        max_len=longest,
    )  # fmt: skip
    lengths = answers.lengths + answers.finished  # an end is a token, too
    rows = zip(case.prompts.items(), answers.tokens.tolist(), lengths.tolist(), strict=True)
    for (name, prompt), answer, length in rows:
        for ahead in (4, 8):
            yield f"{name}/{ahead}", length / passes(prompt, answer[:length], ahead)


# The study

EDGES = (1, 16, 64, 128, 256, 512)
WHOLE = (1, 4, 16, 64, 256, 512, 1024)
Part = Callable[..., Found]
PARTS: dict[str, tuple[Part, tuple[object, ...]]] = {
    "windows": (windows, (EDGES,)),
    "narrow": (narrow, (256, 32)),
    "caches": (caches, (256,)),
    "times": (times, ((64, 256, 512), 6)),
    "positions": (positions, (256,)),
    "lengths": (lengths, (WHOLE, 64)),
    "writing": (writing, (32, 96)),
    "lookup": (lookup, (48,)),
}
"""What is measured, each with its numbers of tokens."""
ASKED = {
    "copy": "Repeat this text word for word.\n\n{text}",
    "free": "Write a short story that takes place in {place}.",
}
PLACES = ("London", "a forest", "a concert hall", "Cornwall", "a railway station", "a camp")


@torch.no_grad()
def measured(setting: tuple[str, tuple[object, ...]], _task: None, seed: int) -> dict[str, float]:
    """Read a passage, or write about it, as a part of the study asks."""
    name, sizes = setting
    model, tokenizer = smollm()
    text = torch.tensor(tokenizer.encode(passages()[seed - 1].text))
    fill = {"text": tokenizer.decode(text[:96].tolist()), "place": PLACES[seed - 1]}
    prompts = {
        what: tokenizer.encode(tokenizer.chat(ask.format(**fill))) for what, ask in ASKED.items()
    }
    return dict(PARTS[name][0](model, Case(text, prompts, tokenizer.eos_id, seed), *sizes))


@torch.no_grad()
def smoke() -> list[float]:
    """Do all of it but the times with a model that has learned nothing."""
    model, text = untrained()
    prompts = {name: text[: 9 + len(name)].tolist() for name in ASKED}
    case = Case(text, prompts, 0, 1)
    small: dict[str, tuple[object, ...]] = {
        "windows": ((1, 16, 64),), "narrow": (64, 4), "caches": (48,), "positions": (48,),
        "lengths": ((1, 4, 16, 64), 16), "writing": (8, 40), "lookup": (6,),
    }  # fmt: skip
    found = [one for name in small for one in PARTS[name][0](model, case, *small[name])]
    return [value for name, value in found if not name.endswith(("same", "kept"))]


STUDY = Experiment(
    name="real_text",
    title="A real language model on real texts",
    seeds=tuple(range(1, len(PLACES) + 1)),
    over="texts",
    arms=lambda: {name: Arm((name, sizes), None) for name, (_, sizes) in PARTS.items()},
    outcome=measured,
    kinds={
        "times/*": number("s", 0, timed=True),
        "*/circles": share(3, own=True),
        "*/repeated": number("%", 0, 100), "*/same": number("%", 0, 100),
        "narrow/*/kept": number("tokens", 0, 32),
        "narrow/first/*": number("", 0), "narrow/others/*": number("", 0),
        "lookup/*": number("tokens", 1), "*/a_pass": number("tokens", 1),
        "*": number("nats", 0),
    },
    modules=(
        *TRANSFORMERS, "companion.decoding", "companion.models.smollm", "experiments.texts",
    ),
    claims=read_claims(__file__), smoke=smoke, tolerance=5e-3, workers=1,
)  # fmt: skip
