"""The Transformer on the grammar: beside the RNNs, beyond the training length, detail by detail.

The details are measured on the small task of the live cells. Every variant differs from the first
in what its name says and in nothing else; all are trained with the rate that tuning chose for the
first. What a variant would reach with a rate of its own is not shown here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from torch import Tensor

from companion.alignment import argmax_links
from companion.data.batching import Batch, collate
from companion.data.pairs import Pair
from companion.metrics import alignment_error_rate
from companion.models.transformer import Transformer, TransformerConfig
from experiments.record import claim, fingerprint, measure, measure_all, write_result
from experiments.settings import LIVE_TASK, REPORT_SEEDS, TUNED, reported
from experiments.translators import (
    AnySetting,
    GrammarTask,
    Runs,
    Trained,
    alignment,
    bin_name,
    in_parallel,
    run_all,
    smoke_trace,
    unit_of,
)
from experiments.trials import command_line
from experiments.tune import tune as tune_settings
from experiments.update_cost import update_costs

STUDY = "transformer"
SMALL = "transformer_small"
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
            source_vocab=vocabularies[0],
            vocab_size=vocabularies[1],
            embed_dim=self.embed_dim,
            hidden_dim=self.hidden_dim,
            num_heads=self.num_heads,
            num_layers=self.num_layers,
            positions=self.positions,
            norm_order=self.norm_order,
            embedding_scale=self.embedding_scale,
            tied=self.tied,
            dropout_p=self.dropout_p,
        )

    def build(self, vocabularies: tuple[int, int]) -> Transformer:
        """Return an untrained model."""
        return Transformer(self.config(vocabularies))

    def loss(self, model: Transformer, batch: Batch) -> Tensor:
        """Return what training makes smaller."""
        return model.loss(batch, label_smoothing=self.label_smoothing)

    def links(self, trained: Trained, pairs: Sequence[Pair]) -> dict[str, float]:
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
    found: dict[str, list[Tensor]] = {}
    translator = trained.translator
    model = cast(Transformer, translator.model)
    for start in range(0, len(pairs), 250):
        some = pairs[start : start + 250]
        batch = collate(some, translator.source_vocab, translator.target_vocab)
        for block, weights in enumerate(model.attention(batch).cross, 1):
            heads = {f"{block}.{head}": one for head, one in enumerate(weights.unbind(1), 1)}
            for name, maps in {f"{block}": weights.mean(1), **heads}.items():
                found.setdefault(name, []).extend(
                    matrix[: len(pair.target), : len(pair.source)]
                    for matrix, pair in zip(maps, some, strict=True)
                )
    return found


def tuned(name: str) -> TransformerSetting:
    """Return what `tune` chose for the whole grammar (`STUDY`) or the small task (`SMALL`)."""
    chosen = json.loads((TUNED / f"{name}.json").read_text(encoding="utf8"))["chosen"]
    return TransformerSetting(**chosen["transformer"])


def large() -> dict[str, TransformerSetting]:
    """Return what is trained on the whole grammar: both kinds of positions."""
    sinusoidal = replace(tuned(STUDY), steps=STEPS)
    return {"sinusoidal": sinusoidal, "rotary": replace(sinusoidal, positions="rotary")}


def details() -> dict[str, TransformerSetting]:
    """Return what is trained on the small task: a Transformer, and one change at a time."""
    base = tuned(SMALL)
    return {
        "base": base,
        "post": replace(base, norm_order="post"),
        "no_warmup": replace(base, warmup_steps=0),
        "post_no_warmup": replace(base, norm_order="post", warmup_steps=0),
        "smoothing": replace(base, label_smoothing=0.1),
        "dropout": replace(base, dropout_p=0.1),
        "no_scale": replace(base, embedding_scale=False),
        "untied": replace(base, tied="none"),
    }


def tune(workers: int = 2) -> None:
    """Choose the learning rate, then dropout at the best rate, on seeds that are not reported."""
    rates = [TransformerSetting(learning_rate=rate) for rate in LEARNING_RATES]
    best = choose(STUDY, rates, VALIDATION, workers)
    best = choose(STUDY, [*rates, replace(best, dropout_p=0.0)], VALIDATION, workers)
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


def main(workers: int = 2) -> None:
    """Train every variant on every seed and write the record."""
    entries: dict[str, tuple[AnySetting, GrammarTask]] = {
        **{name: (setting, TASK) for name, setting in large().items()},
        **{name: (setting, LIVE_TASK) for name, setting in details().items()},
    }
    runs = run_all(STUDY, entries, REPORT_SEEDS, workers)
    rivals: dict[str, AnySetting] = {str(kind): setting for kind, setting in reported().items()}
    rivals["transformer"] = tuned(STUDY)
    costs = in_parallel(update_costs, [(rivals, TASK, seed) for seed in REPORT_SEEDS], workers=1)
    write_result(
        STUDY,
        title="The Transformer on the grammar, and the details of its training",
        command="python -m experiments.transformer",
        seeds=REPORT_SEEDS,
        threads=1,
        config={
            name: {"setting": setting, "task": task} for name, (setting, task) in entries.items()
        },
        measures=measure_all(runs, unit_of)
        | {
            f"update_cost/{name}": measure([cost[name] for cost in costs], "× no attention")
            for name in rivals
            if name != "none"
        },
        claims=claims(runs),
        fingerprint=fingerprint(smoke()),
    )


def claims(runs: Mapping[str, Runs]) -> dict[str, dict[str, object]]:
    """Compare variants seed by seed, as the page states it."""

    def gain(text: str, more: str, less: str, what: str = "exact_match/test") -> dict[str, object]:
        return claim(
            text, runs[more][what], runs[less][what], unit="points of exact match", side="above"
        )

    longer = f"exact_match/{bin_name(31, 35)}"
    return {
        "mostly_right": claim(
            "After 1,200 updates at least 95 % of sentences of at most 30 words come out right.",
            runs["sinusoidal"]["exact_match/test"],
            None,
            unit="% exact match",
            side="above",
            threshold=95.0,
        ),
        "rotary_reaches_farther": gain(
            "With rotary positions, more sentences longer than any in training come out right.",
            "rotary",
            "sinusoidal",
            longer,
        ),
        "pre_or_post": gain("Norms before the sub-layers beat norms after them.", "base", "post"),
        "warmup_pre": gain("With norms before, warm-up helps.", "base", "no_warmup"),
        "warmup_post": gain("With norms after, warm-up helps.", "post", "post_no_warmup"),
        "smoothing": gain("Label smoothing helps.", "smoothing", "base"),
        "dropout": gain("Dropout helps.", "dropout", "base"),
        "scale": gain("Scaling the embeddings by the root of e helps.", "base", "no_scale"),
        "tied": gain("Tying the output to the target embedding helps.", "base", "untied"),
        "heads_specialise": claim(
            "The best head aligns better than the mean of its block.",
            best_head(runs["sinusoidal"]),
            runs["sinusoidal"]["alignment_error"],
            unit="points of alignment error",
            side="below",
        ),
    }


def best_head(found: Runs) -> list[float]:
    """Return the lowest alignment error of the last block's heads, seed by seed."""
    last = max(name.split("/")[1].split(".")[0] for name in found if "alignment_error/" in name)
    heads = [runs for name, runs in found.items() if name.startswith(f"alignment_error/{last}.")]
    return [min(errors) for errors in zip(*heads, strict=True)]


if __name__ == "__main__":
    command_line(__doc__, tune, main)
