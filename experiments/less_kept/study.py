"""A given model that keeps or reads less: what the average loses, and what an answer loses.

A text is a list of names and numbers, a passage of a book, and the list again in another order. A
real language model reads it once in each way. Each seed is a passage of a book of its own and a
list of its own. The model is SmolLM2-135M-Instruct as its file has it, and nothing is trained.
"""

from collections.abc import Sequence
from itertools import cycle
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from companion import top_keys
from companion.heads import repeat_kv
from companion.models.smollm import smollm
from companion.models.tokenizer import Tokenizer
from companion.models.transformer import LanguageModel
from companion.scores import scaled_dot_score
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS
from experiments.engine.experiment import Experiment
from experiments.engine.kinds import number, share
from experiments.engine.untrained import untrained
from experiments.real_heads.heads import books
from experiments.real_text.study import CACHES, Attention, attend, given, near, read, storing
from experiments.texts import passages

NAMES = (
    "Ana", "Ben", "Carl", "Dora", "Eva", "Finn", "Gina", "Hugo", "Ida", "Jan", "Kim", "Leo", "Mia",
    "Nils", "Olga", "Paul",
)  # fmt: skip
BEGINS, AGAIN = "These are the numbers of the lockers", " again"
PASSAGE, SCORED = 256, 192
"""Tokens of the passage, and how many of them are scored, the last ones."""
EVERY = 6
"""Of so many layers, the last one keeps all in the mixture with windows, as in Gemma 3."""
SEEDS = tuple(range(1, 13))
"""One for each book: ten of `real_heads` and two of `real_text`, whose other four were not read."""


class Text(NamedTuple):
    """A text, what of it is the passage, and where the numbers of the second list are."""

    tokens: Tensor  # (n,) ids
    passage: slice
    asked: list[slice]


def written(tokenizer: Tokenizer, passage: str, seed: int) -> Text:
    """Write a list of names and numbers, a passage, and the list again in another order."""
    generator = Generator().manual_seed(seed)
    numbers = (10 + torch.randperm(90, generator=generator)[: len(NAMES)]).tolist()
    pairs = list(zip(NAMES, numbers, strict=True))
    first = "".join(f"{name}: {number}\n" for name, number in pairs)
    tokens = [*tokenizer.encode(f"{BEGINS}.\n{first}\n")]
    start = len(tokens)
    tokens += tokenizer.encode(passage)[:PASSAGE]
    end = len(tokens)
    tokens += tokenizer.encode(f"\n\n{BEGINS}{AGAIN}.\n")
    asked = []
    for place in torch.randperm(len(pairs), generator=generator).tolist():
        name, number = pairs[place]
        tokens += tokenizer.encode(f"{name}: ")
        digits = tokenizer.encode(str(number))
        asked.append(slice(len(tokens), len(tokens) + len(digits)))
        tokens += [*digits, *tokenizer.encode("\n")]
    return Text(torch.tensor(tokens), slice(max(start + 1, end - SCORED), end), asked)


def best(count: int) -> Attention:
    """Return attention to the keys with the best scores, so many for each query of each head."""

    def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        scores = scaled_dot_score(query, repeat_kv(key, query))
        return attend(query, key, value, top_keys(scores, count, mask))

    return attention


WAYS: dict[str, Attention] = {
    "all": attend,
    "window/64": near(64, 1), "window/256": near(256, 1),
    **{f"best/{count}": best(count) for count in (4, 16, 64)},
    **{name: storing(CACHES[name]) for name in ("8", "4", "4/channel")},
}  # fmt: skip
"""Ways to keep or to read less, the same in all layers; windows keep the first token as well."""


def in_turn(ways: Sequence[Attention]) -> Attention:
    """Return attention that is another one in each layer, which call it one after the other."""
    turns = cycle(ways)
    return lambda *given: next(turns)(*given)


def measured(model: LanguageModel, text: Text) -> dict[str, float]:
    """Read in every way: the loss of the passage, and how many of 100 numbers are right."""
    layers = range(1, model.config.num_layers + 1)
    mixture = in_turn([WAYS["window/64"] if at % EVERY else attend for at in layers])
    found: dict[str, float] = {}
    for name, way in {**WAYS, "mixture/64": mixture}.items():
        lost, likeliest = read(given(model, way), text.tokens)
        said = [
            torch.equal(likeliest[one.start - 1 : one.stop - 1], text.tokens[one])
            for one in text.asked
        ]
        passage = lost[text.passage.start - 1 : text.passage.stop - 1]
        found |= {
            f"{name}/right": 100 * sum(said) / len(said),
            f"{name}/loss": float(passage.mean()),
        }
    return found


@torch.no_grad()
def run(seed: int) -> dict[str, float]:
    """Read one passage and one list in every way."""
    model, tokenizer = smollm()
    texts = [*books("reported"), *(one.text for one in passages())]
    return measured(model, written(tokenizer, texts[seed - 1], seed))


@torch.no_grad()
def smoke() -> list[float]:
    """Do all of it with a model that has learned nothing."""
    model, tokens = untrained(layers=7)
    found = measured(model, Text(tokens, slice(70, 96), [slice(40, 42), slice(60, 62)]))
    return [value for name, value in found.items() if name.endswith("loss")]


STUDY = Experiment(
    name="less_kept", title="A given model that keeps or reads less",
    seeds=SEEDS, over="texts", beside=run, workers=1,
    config=lambda: {
        "names": len(NAMES), "passage": PASSAGE, "scored": SCORED, "every": EVERY,
        "ways": [*WAYS, "mixture/64"],
    },
    kinds={"*/right": share(len(NAMES), own=True), "*": number("nats", 0)},
    modules=(
        *TRANSFORMERS, "companion.indexed", "companion.models.smollm", "experiments.texts",
        "experiments.real_heads.heads", "experiments.real_text.study",
    ),
    claims=read_claims(__file__), smoke=smoke, tolerance=5e-3,
)  # fmt: skip
