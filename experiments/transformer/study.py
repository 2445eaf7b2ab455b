"""The Transformer on the grammar: beside the RNNs, and beyond the training length.

The small one of other studies is tuned here, too, on the task of the live cells.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from torch import Tensor

from companion.alignment import argmax_links
from companion.data.batching import Batch, collate
from companion.data.pairs import Pair
from companion.metrics import alignment_error_rate
from companion.models.transformer import Transformer, TransformerConfig
from experiments.engine import trials
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS, TRANSLATORS
from experiments.engine.experiment import Answers, Experiment, on
from experiments.engine.settings import LIVE_TASK, REPORT_SEEDS, reported
from experiments.engine.translators import (
    GrammarTask,
    Trainable,
    Trained,
    alignment,
    kinds,
    outcome,
    smoke_trace,
)
from experiments.engine.tune import tune as tune_settings
from experiments.engine.update_cost import update_costs

LARGE = "transformer"
SMALL = "transformer/small"
TASK = GrammarTask()
VALIDATION = GrammarTask(bins=(), test_pairs=500, test_seed=80_001, apart_from=TASK)
LIVE_VALIDATION = replace(
    LIVE_TASK, bins=(), test_pairs=500, test_seed=80_001, apart_from=LIVE_TASK
)
LEARNING_RATES = (1.5e-3, 3e-3, 6e-3)
SMALL_RATES = (3e-3, 6e-3, 12e-3)
STEPS, LIVE_STEPS = 1200, 800
"""Updates on the whole grammar and on the small task; tuning takes `TransformerSetting.steps`."""


@dataclass(frozen=True)
class TransformerSetting:
    """One Transformer and its training; the same for every seed."""

    attention: Literal["transformer"] = "transformer"
    learning_rate: float = 3e-3
    dropout_p: float = 0.1
    label_smoothing: float = 0.0
    steps: int = 600
    warmup_steps: int = 100
    embed_dim: int = 128
    hidden_dim: int = 256
    num_heads: int = 4
    num_layers: int = 2
    positions: Literal["sinusoidal", "rotary"] = "sinusoidal"
    norm_order: Literal["pre", "post"] = "pre"
    embedding_scale: bool = True
    tied: Literal["none", "output"] = "output"
    batch_size: int = 64

    def config(self, vocabularies: tuple[int, int]) -> TransformerConfig:
        """Return the model's configuration, for source and target vocabularies of a size."""
        return TransformerConfig(
            source_vocab=vocabularies[0], vocab_size=vocabularies[1], embed_dim=self.embed_dim,
            hidden_dim=self.hidden_dim, num_heads=self.num_heads, num_layers=self.num_layers,
            positions=self.positions, norm_order=self.norm_order,
            embedding_scale=self.embedding_scale, tied=self.tied, dropout_p=self.dropout_p,
        )  # fmt: skip

    def build(self, vocabularies: tuple[int, int]) -> Transformer:
        """Return an untrained model."""
        return Transformer(self.config(vocabularies))

    def loss(self, model: Transformer, batch: Batch) -> Tensor:
        """Return what training makes smaller."""
        return model.loss(batch, label_smoothing=self.label_smoothing)

    def links(self, trained: Trained, pairs: Sequence[Pair]) -> dict[str, float | Answers]:
        """Hold the attention of the last block, and of every head, against the gold links."""
        return alignment(trained, pairs) | head_errors(trained, pairs)

    def shrunk(self) -> TransformerSetting:
        """Return the setting of a smoke run."""
        return replace(
            self, steps=6, warmup_steps=2, hidden_dim=16, embed_dim=8, num_heads=2, batch_size=16
        )


def head_errors(trained: Trained, pairs: Sequence[Pair]) -> dict[str, float]:
    """Return the alignment error of every head and of every block's mean, counted from 1."""
    return {
        f"alignment_error/{name}": alignment_error_rate(
            [argmax_links(matrix) for matrix in matrices], pairs
        )
        for name, matrices in cross_weights(trained, pairs).items()
    }


def cross_weights(trained: Trained, pairs: Sequence[Pair]) -> dict[str, list[Tensor]]:
    """Return (q, k) weights a pair for "block.head" and for "block", the mean of its heads."""
    by_name: defaultdict[str, list[Tensor]] = defaultdict(list)
    translator = trained.translator
    model = cast(Transformer, translator.model)
    for start in range(0, len(pairs), 250):
        some = pairs[start : start + 250]
        batch = collate(some, translator.source_vocab, translator.target_vocab)
        for block, weights in enumerate(model.attention(batch).cross, 1):
            heads = {f"{block}.{head}": one for head, one in enumerate(weights.unbind(1), 1)}
            for name, maps in {f"{block}": weights.mean(1), **heads}.items():
                by_name[name].extend(
                    matrix[: len(pair.target), : len(pair.source)]
                    for matrix, pair in zip(maps, some, strict=True)
                )
    return by_name


def tuned(name: str) -> TransformerSetting:
    """Return what `tune` chose for the whole grammar (`LARGE`) or the small task (`SMALL`)."""
    return trials.tuned(name, {"transformer": TransformerSetting()})["transformer"]


def large() -> dict[str, TransformerSetting]:
    """Return what is trained on the whole grammar: both kinds of positions."""
    sinusoidal = replace(tuned(LARGE), steps=STEPS)
    return {"sinusoidal": sinusoidal, "rotary": replace(sinusoidal, positions="rotary")}


def tune(workers: int = 2) -> None:
    """Choose the learning rate, then dropout at the best rate, on seeds that are not reported."""
    rates = [TransformerSetting(learning_rate=rate) for rate in LEARNING_RATES]
    best = choose(LARGE, rates, VALIDATION, workers)
    best = choose(LARGE, [*rates, replace(best, dropout_p=0.0)], VALIDATION, workers)
    small = replace(best, steps=LIVE_STEPS, embed_dim=64, hidden_dim=128)
    rates = [replace(small, learning_rate=rate) for rate in SMALL_RATES]
    choose(SMALL, rates, LIVE_VALIDATION, workers)


def choose(
    name: str, settings: Sequence[TransformerSetting], task: GrammarTask, workers: int
) -> TransformerSetting:
    """Try every setting, record all, and return the one that gets most sentences right."""
    return tune_settings(name, settings, task, "exact_match/test", workers)["transformer"]


def smoke() -> list[float]:
    """Run the whole pipeline on a few sentences; see `smoke_trace`."""
    base = TransformerSetting()
    changed = (replace(base, positions="rotary", norm_order="post", label_smoothing=0.1),)
    return smoke_trace([base, *changed])


def update_cost(seed: int) -> dict[str, float]:
    """Return what an update costs, as a multiple of the recurrent one without attention."""
    rivals: dict[str, Trainable] = {**reported(), "transformer": tuned(LARGE)}
    costs = update_costs(rivals, TASK, seed)
    return {f"update_cost/{name}": cost for name, cost in costs.items() if name != "none"}


def best_head(runs: Runs) -> list[float]:
    """Return the lowest alignment error of the last block's heads, seed by seed."""
    start = "sinusoidal/alignment_error/"
    last = max(name.removeprefix(start).split(".")[0] for name in runs if name.startswith(start))
    heads = [runs[name] for name in runs if name.startswith(f"{start}{last}.")]
    return [min(errors) for errors in zip(*heads, strict=True)]


STUDY = Experiment(
    name="transformer", title="The Transformer on the grammar",
    seeds=REPORT_SEEDS, arms=lambda: on(TASK, large()), outcome=outcome,
    beside=update_cost, timed=True, kinds=kinds(TASK),
    modules=(*TRANSLATORS, *TRANSFORMERS, "experiments.engine.update_cost"),
    claims=read_claims(__file__, best_head), smoke=smoke, tuning=tune,
)  # fmt: skip
