"""One real model on several processes: does it write what it writes on one?

On two processes each has a part of every layer's heads and of its hidden width. On four, where the
model's three key heads do not go around, each looks at a quarter of the keys. Each seed is one
question, and nothing is trained.
"""

import json
from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import Tensor

from bookkit.devices import run_on
from companion.decoding import stream_tokens
from companion.models.smollm import smollm
from companion.models.transformer import LanguageModel
from companion.parallel import split_attention, tensor_parallel
from experiments.engine.claims_file import read_claims
from experiments.engine.experiment import Experiment
from experiments.engine.kinds import number

QUESTIONS = (
    "Why is the sky blue?",
    "Write a short story about a fox and a crow.",
    "How do I make a cup of tea?",
    "Name three animals that live in the sea.",
    "How does a bicycle stay upright?",
)
LENGTH = 100
"""Tokens of an answer, its end among them where it comes earlier."""


def quartered(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Attend to every so-manieth key, and merge with what the other ranks find."""
    mine = slice(dist.get_rank(), None, dist.get_world_size())
    part = key[:, :, mine], value[:, :, mine], mask[..., mine]
    return split_attention(query, *part, enable_gqa=True)


def tokens(question: str, count: int, length: int = LENGTH) -> list[int]:
    """Return the tokens that this rank of so many writes."""
    model, tokenizer = smollm()
    if count == 2:
        tensor_parallel(model)
    if count == 4:
        model = model.with_attention(quartered, repeat_kv=False)
    prompt = tokenizer.encode(tokenizer.chat(question))
    return written(model, prompt, length)


@torch.no_grad()
def written(model: LanguageModel, prompt: Sequence[int], length: int) -> list[int]:
    """Return the most probable tokens, one after the other, also beyond an end."""
    return list(stream_tokens(model, prompt, eos_id=-1, max_len=length))


def on(count: int, question: str, length: int = LENGTH) -> list[list[int]]:
    """Return what each of so many processes writes."""
    script = f"""
import json
import torch.distributed as dist
from experiments.devices.study import tokens
dist.init_process_group("gloo")
print(json.dumps(tokens({question!r}, {count}, {length})), flush=True)
"""
    return [json.loads(line) for line in run_on(count, script, seconds=900).splitlines()]


def same(alone: Sequence[int], together: Sequence[Sequence[int]]) -> float:
    """Return how many first tokens all ranks share with one that writes alone."""
    pairs = zip(alone, *together, strict=True)
    return float([*(len(set(pair)) == 1 for pair in pairs), False].index(False))


def run(seed: int) -> dict[str, float]:
    """Let one, two and four processes answer one question."""
    question = QUESTIONS[seed - 1]
    (alone,) = on(1, question)
    return {f"{count}/same": same(alone, on(count, question)) for count in (2, 4)}


def smoke() -> list[float]:
    """Count on texts that are given."""
    return [same([4, 5, 6], [[4, 5, 6]] * 2), same([4, 5, 6], [[4, 5, 6], [4, 7, 6]])]


STUDY = Experiment(
    name="devices", title="A language model on several processes",
    seeds=tuple(range(1, len(QUESTIONS) + 1)), over="questions", beside=run, timed=True,
    config=lambda: {"questions": QUESTIONS, "length": LENGTH},
    kinds={"*": number("tokens", 0, LENGTH)},
    modules=("companion.parallel", "companion.decoding", "companion.models.smollm"),
    smoke=smoke, claims=read_claims(__file__),
)  # fmt: skip
