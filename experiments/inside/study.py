"""A language model with mistakes in its attention: what it reads, and what it writes.

Each seed is one question and one passage of text, so that intervals are over texts. The model is
SmolLM2-135M-Instruct as its file of 4.5 bits a weight has it, and nothing is trained.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bookkit.inside import MISTAKES, NEEDS_ALL_QUERIES, Attention, right, side_by_side
from companion.decoding import greedy
from companion.models.smollm import smollm
from companion.models.transformer import LanguageModel
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS
from experiments.engine.experiment import Experiment
from experiments.engine.kinds import number
from experiments.engine.untrained import untrained

QUESTIONS = (
    "Why is the sky blue?",
    "Write a short story about a fox and a crow.",
    "How do I make a cup of tea?",
    "What is the capital of France, and what is it known for?",
    "Name three animals that live in the sea.",
    "Explain what a dictionary is.",
    "Why do leaves fall in autumn?",
    "Write a poem about the sea.",
    "What should I see in London?",
    "How does a bicycle stay upright?",
    "Tell me about the moon.",
    "What is the difference between a river and a lake?",
)
LENGTH, FIRST = 96, 48
"""Tokens of a passage, and how many of them come at once."""
LONGEST = 40
"""Most tokens of an answer."""
ATTENTIONS = {"right": right} | {name: one.attention for name, one in MISTAKES.items()}
WRITING = {name: one for name, one in ATTENTIONS.items() if name != NEEDS_ALL_QUERIES}


def passages() -> list[str]:
    """Return the passages, one for each seed."""
    file = Path(__file__).with_name("passages.json")
    return [one["text"] for one in json.loads(file.read_text(encoding="utf-8"))["passages"]]


def given(model: LanguageModel, attention: Attention) -> LanguageModel:
    """Return the model with another attention, whose heads share keys as they come."""
    return model.with_attention(attention, repeat_kv=False)


def written(model: LanguageModel, prompt: Tensor, longest: int, eos_id: int) -> dict[str, Tensor]:
    """Return the most probable answer by each attention, its end included where it has one.

    Args:
        prompt: (n,) ids.
        longest: most tokens of an answer.
    """
    together = given(model, side_by_side([*WRITING.values()]))
    state = together.start(prompt.repeat(len(WRITING), 1), max_len=longest)
    answers = greedy(
        together.step, state, batch_size=len(WRITING), bos_id=state.last, eos_id=eos_id,
        max_len=longest,
    )  # fmt: skip
    lengths = answers.lengths + answers.finished
    return {
        name: row[:length]
        for name, row, length in zip(WRITING, answers.tokens, lengths.tolist(), strict=True)
    }


@torch.no_grad()
def losses(model: LanguageModel, text: Tensor, first: int) -> Iterator[tuple[str, float]]:
    """Yield the losses of all tokens but the first so many, read at once and one by one.

    Args:
        text: (n,) ids; those of the start are read at once in either case.
    """
    wanted, count = text[first:], len(WRITING)
    for name, attention in ATTENTIONS.items():
        logits = given(model, attention)(text[None, :-1])[0, first - 1 :]
        yield f"{name}/at_once", float(cross_entropy(logits, wanted))
    together = given(model, side_by_side([*WRITING.values()]))
    state = together.start(text[:first].repeat(count, 1), max_len=len(wanted))
    tokens, total = state.last, torch.zeros(count)
    for token in wanted:
        logits, state, _ = together.step(tokens, state)
        tokens = token.repeat(count)
        total += cross_entropy(logits, tokens, reduction="none")
    for name, loss in zip(WRITING, total / len(wanted), strict=True):
        yield f"{name}/in_use", float(loss)


def kept(answers: Mapping[str, Tensor]) -> Iterator[tuple[str, float]]:
    """Yield how many first tokens of an answer are those of the right one."""
    for name, answer in answers.items():
        both = zip(answer.tolist(), answers["right"].tolist(), strict=False)
        same = [one == other for one, other in both]
        yield f"{name}/kept", float((*same, False).index(False))


def run(seed: int) -> dict[str, float]:
    """Ask one question and read one passage."""
    model, tokenizer = smollm()
    prompt = torch.tensor(tokenizer.encode(tokenizer.chat(QUESTIONS[seed - 1])))
    text = torch.tensor(tokenizer.encode(passages()[seed - 1])[:LENGTH])
    answers = written(model, prompt, LONGEST, tokenizer.eos_id)
    return dict([*losses(model, text, FIRST), *kept(answers)])


def smoke() -> list[float]:
    """Run all of it on a model that has learned nothing."""
    generator = torch.Generator().manual_seed(7)
    model, _ = untrained()
    prompt, text = torch.randint(53, (2, 11), generator=generator)
    answers = written(model, prompt, 5, 0)
    return [loss for _, loss in (*losses(model, text, 6), *kept(answers))]


STUDY = Experiment(
    name="inside",
    title="A language model with mistakes in its attention",
    seeds=tuple(range(1, len(QUESTIONS) + 1)), over="texts", beside=run,
    config=lambda: {
        "questions": QUESTIONS, "length": LENGTH, "first": FIRST, "longest": LONGEST,
    },
    kinds={"*/kept": number("tokens", 0, LONGEST), "*": number("nats", 0)},
    modules=(
        *TRANSFORMERS, "bookkit.exercises.silent", "bookkit.inside", "companion.decoding",
        "companion.models.smollm",
    ),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
