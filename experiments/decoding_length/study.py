"""Are the likeliest sentences more often grammatical, or only shorter?

The study `decoding` found the most probable continuations more often grammatical than greedy ones,
and half as long. Here both are compared at one length: for every beginning the most probable of the
continuations that have as many words as the greedy one is found, too. Model, training and searches
are those of `decoding`, the seeds and the beginnings are others, and there are twice as many of the
latter.
"""

import math
from collections.abc import Sequence
from statistics import fmean

import torch

from bookkit.data.grammar.reading import read
from companion.models.transformer import LanguageModel
from experiments.decoding.study import (
    SAME,
    Continuations,
    Setting,
    Task,
    fit,
    gone_on,
    most_probable,
    unread,
)
from experiments.engine.claims_file import read_claims
from experiments.engine.code import GRAMMAR, TEXTS, TRANSFORMERS
from experiments.engine.experiment import Answers, Experiment, by_item, numbers
from experiments.engine.kinds import number, share

SEEDS = tuple(range(201, 221))
SETTING = Setting()
TASK = Task(beginnings=300, unread_seed=70_201)
WIDTH = 20
"""Of the beam whose sentences bound the exact searches."""


@torch.no_grad()
def likeliest_of(
    model: LanguageModel, prompt: Sequence[int], eos_id: int, words: int, *,
    at_least: float = -math.inf, width: int | None = None,
) -> tuple[list[int], float]:  # fmt: skip
    """Find the most probable of the continuations that have so many words and then end.

    Args:
        at_least: log-probability of some such continuation: what is less probable is not followed.
        width: how many beginnings are followed at most; with None the search is exact.

    Returns:
        The continuation without its end, and its log-probability.
    """
    rows, totals = torch.tensor([prompt]), torch.zeros(1)
    for _ in range(words):
        given = totals[:, None] + _next(model, rows)
        given[:, eos_id] = -math.inf
        parents, chosen = (given > at_least - SAME / 2).nonzero(as_tuple=True)
        totals = given[parents, chosen]
        kept = totals.topk(min(width or len(totals), len(totals))).indices
        rows, totals = torch.cat((rows[parents], chosen[:, None]), 1)[kept], totals[kept]
    best, row = (totals + _next(model, rows)[:, eos_id]).max(0)
    return rows[row, len(prompt) :].tolist(), float(best)


def _next(model: LanguageModel, rows: torch.Tensor) -> torch.Tensor:
    """Return log-probabilities of the next word of every row."""
    logits = torch.cat([model(part)[:, -1] for part in torch.split(rows, 2048)])
    return logits.log_softmax(-1)


def at_length(
    model: LanguageModel, prompts: Sequence[Sequence[int]], eos_id: int, greedily: Continuations
) -> Continuations:
    """Find the most probable continuations that have as many words as the greedy ones.

    One that never ended stays as it is: no sentence has its length.
    """
    found = []
    for prompt, ids, total in zip(prompts, *greedily, strict=True):
        if math.isinf(total):
            found.append((ids, total))
            continue
        _, near = likeliest_of(model, prompt, eos_id, len(ids), width=WIDTH)
        found.append(likeliest_of(model, prompt, eos_id, len(ids), at_least=max(near, total)))
    return Continuations([ids for ids, _ in found], [total for _, total in found])


def outcome(seed: int, setting: Setting = SETTING, task: Task = TASK) -> dict[str, float | Answers]:
    """Train one model; go on from every beginning, and measure how and how well."""
    model, vocab, _, losses = fit(setting, task, seed)
    begins = dict.fromkeys(pair.source[: task.begin_with] for pair in unread(task))
    prompts = [[vocab.bos_id, *vocab.encode(words)] for words in [*begins][: task.beginnings]]
    assert len(prompts) == task.beginnings
    greedy, two, wide = (
        gone_on(model, vocab, prompts, task.limit, width, 0.0) for width in (1, 2, WIDTH)
    )
    best = [
        most_probable(model, prompt, vocab.eos_id, task.limit, at_least=bound)
        for prompt, bound in zip(prompts, wide.log_probs, strict=True)
    ]
    exact = Continuations([ids for ids, _ in best], [total for _, total in best])
    same = at_length(model, prompts, vocab.eos_id, greedy)
    pairs = list(zip(two.log_probs, greedy.log_probs, strict=True))
    measures: dict[str, float | Answers] = {
        "final_loss": fmean(losses[-20:]),
        "beam/below_greedy": 100 * fmean(total < first - SAME for total, first in pairs),
        "same/is_greedy": 100 * fmean(map(list.__eq__, same.ids, greedy.ids)),
    }
    for name, (ids, totals) in {"greedy": greedy, "same": same, "exact": exact}.items():
        sentences = [
            tuple(vocab.tokens[i] for i in (*prompt[1:], *more))
            for prompt, more in zip(prompts, ids, strict=True)
        ]
        sound = [float(read(words) is not None) for words in sentences]
        measures |= {
            f"{name}/log_prob": fmean(totals),
            f"{name}/words": fmean(map(len, ids)),
            f"{name}/grammatical": 100 * fmean(sound),
            by_item(f"{name}/grammatical"): [(hit, 1.0) for hit in sound],
        }
    return measures


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates, then all that is measured."""
    task = Task(sentences=150, max_length=6, beginnings=3, limit=8)
    setting = Setting(steps=8, batch_size=16, embed_dim=16)
    measures = numbers(outcome(7, setting, task))
    # A model that has hardly begun may never end a sentence, whose log-probability is then -inf.
    return [value for value in measures.values() if math.isfinite(value)]


STUDY = Experiment(
    name="decoding_length", title="The likeliest sentences against greedy ones of their length",
    seeds=SEEDS, beside=outcome, workers=1,
    config=lambda: {"setting": SETTING, "task": TASK, "width": WIDTH},
    kinds={
        "final_loss": number("nats", 0), "*/log_prob": number("nats", high=0),
        "*/words": number("words", 0), "*": share(TASK.beginnings),
    },
    modules=(
        "experiments.decoding.study", *TRANSFORMERS, *TEXTS, *GRAMMAR, "companion.decoding",
    ),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
