"""Where does a predicted window stand, in sentences as long as in training and in longer ones?

The study of what attention buys found that general attention in a predicted window (local-p) fails
beyond the lengths of training, and did not record where the windows were. Here the same translator
is trained on other seeds. Recorded are, by the length of the sentence, how far every predicted
position lies from the word that is needed, and how many of these words the window shows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean

import torch
from torch import Tensor

from companion.data.pairs import Pair
from companion.layers import LuongAttention
from companion.models.seq2seq import Seq2SeqConfig
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSLATORS
from experiments.engine.experiment import Answers, Experiment, by_item, numbers, on
from experiments.engine.kinds import number, share
from experiments.engine.settings import reported
from experiments.engine.translators import (
    BINS,
    GrammarTask,
    Setting,
    Trained,
    alignment,
    bin_name,
    fit,
    kinds,
    outcome,
    smoke_trace,
)

SEEDS = tuple(range(201, 206))
TASK = GrammarTask()
WINDOW = 5


@dataclass(frozen=True)
class WindowSetting(Setting):
    """A translator that may look through a window at a predicted position, and its training."""

    window: int | None = WINDOW

    def config(self, vocabularies: tuple[int, int]) -> Seq2SeqConfig:
        """Return the model's configuration, for source and target vocabularies of a size."""
        return replace(super().config(vocabularies), window=self.window)

    def links(self, trained: Trained, pairs: Sequence[Pair]) -> dict[str, float | Answers]:
        """Hold attention against the gold links, and a window against them at every length."""
        found = alignment(trained, pairs)
        return found if self.window is None else found | windows(trained, by_length())


@cache
def by_length() -> dict[str, list[Pair]]:
    """Return the test sentences of every range of lengths."""
    tests = TASK.tests()
    return {name: tests[name] for name in (bin_name(*ends) for ends in BINS)}


def windows(trained: Trained, tests: Mapping[str, Sequence[Pair]]) -> dict[str, float | Answers]:
    """Say how far from the gold words a window is placed, and how many of them it shows.

    The words before are the right ones. "shown" is the share of linked words inside the window,
    "all_shown" the share of sentences with no linked word outside, and "off" the mean of predicted
    position minus position of the linked word.
    """
    measures: dict[str, float | Answers] = {}
    for name, pairs in tests.items():
        off = [distances(trained, pair) for pair in pairs]
        near = [[abs(one) <= WINDOW for one in sentence] for sentence in off]
        counts = [(float(sum(shown)), float(len(shown))) for shown in near]
        whole = [(float(all(shown)), 1.0) for shown in near]
        measures |= {
            f"shown/{name}": 100 * sum(n for n, _ in counts) / sum(of for _, of in counts),
            by_item(f"shown/{name}"): counts,
            f"all_shown/{name}": 100 * fmean(n for n, _ in whole),
            by_item(f"all_shown/{name}"): whole,
            f"off/{name}": fmean(one for sentence in off for one in sentence),
        }
    return measures


@torch.no_grad()
def distances(trained: Trained, pair: Pair) -> list[float]:
    """Return, for every sure link, the predicted position minus that of the linked word."""
    layer = trained.translator.model.attention  # type: ignore[attr-defined]
    assert isinstance(layer, LuongAttention)
    queries: list[Tensor] = []
    handle = layer.register_forward_pre_hook(lambda _, given: queries.append(given[0]))
    trained.translator.forced_weights([pair])
    handle.remove()
    (query,) = queries
    places = layer.aligned_position(query, float(len(pair.source)))[0].tolist()
    return [places[i] - j for i, j in sorted(pair.sure)]


def setting() -> WindowSetting:
    """Return local-p with the settings of dot attention, as the study of what attention buys."""
    return WindowSetting(**{**vars(reported()["dot"]), "attention": "general"})


def smoke() -> list[float]:
    """Run the whole pipeline small, and see where an untrained window is placed."""
    corpus = GrammarTask(train_pairs=120, max_length=9, test_pairs=8, bins=()).corpus(seed=7)
    trained = fit(setting().shrunk(), corpus, seed=7)
    placed = numbers(windows(trained, corpus.tests))
    return [*smoke_trace([setting()]), *(value / 100 for value in placed.values())]


KINDS = {
    "*/off/*": number("words"), "*shown/*": share(TASK.bin_pairs), **kinds(TASK),
}  # fmt: skip

STUDY = Experiment(
    name="predicted_window", title="Where a predicted window stands, by the length of the sentence",
    seeds=SEEDS, arms=lambda: on(TASK, {"local": setting()}), outcome=outcome,
    config=lambda: {"task": TASK, "local": setting()},
    kinds=KINDS, modules=TRANSLATORS, claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
