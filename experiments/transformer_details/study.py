"""Which details of the Transformer matter on a small task, each variant at a rate of its own?

Every variant differs from the first in what its name says. `--tune` tries four rates for each, a
factor of two apart, at the reported budget and on validation sentences of their own. They are lower
where norms come after the sub-layers and nothing warms up. Where words enter unscaled, they were
higher at first; the lowest of them was the best, and so a fifth was added below.
"""

from collections.abc import Mapping
from dataclasses import replace

from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS, TRANSLATORS
from experiments.engine.experiment import Experiment, numbers, on
from experiments.engine.settings import LIVE_TASK
from experiments.engine.translators import GrammarTask, kinds, outcome, smoke_trace
from experiments.engine.trials import Trials, tuned
from experiments.transformer.study import LIVE_STEPS, TransformerSetting

SEEDS = tuple(range(621, 641))
TASK = replace(LIVE_TASK, bins=())
VALIDATION = replace(TASK, test_pairs=500, test_seed=80_001, apart_from=TASK)


def arms() -> dict[str, TransformerSetting]:
    """Return the small Transformer of the pages, and one change at a time, before tuning."""
    base = TransformerSetting(dropout_p=0.0, steps=LIVE_STEPS, embed_dim=64, hidden_dim=128)
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


def rates(setting: TransformerSetting) -> tuple[float, ...]:
    """Return the learning rates that are tried for a variant."""
    if setting.norm_order == "post" and setting.warmup_steps == 0:
        return 0.75e-3, 1.5e-3, 3e-3, 6e-3
    if not setting.embedding_scale:
        return 1.5e-3, 3e-3, 6e-3, 12e-3, 24e-3
    return 1.5e-3, 3e-3, 6e-3, 12e-3


def wrong(setting: TransformerSetting, task: GrammarTask, seed: int) -> dict[str, float]:
    """Train on a seed; return how many of the sentences are not exactly right, in percent."""
    return {"wrong": 100.0 - numbers(outcome(setting, task, seed))["exact_match/test"]}


def reported() -> Mapping[str, TransformerSetting]:
    """Return the tuned variants."""
    return tuned("transformer_details", arms())


def recorded(runs: Runs) -> Runs:
    """Keep the shares of sentences that are right, the loss curves, and the weights."""
    kept = ("/exact_match/test", "/parameters")
    return {name: runs[name] for name in runs if name.endswith(kept) or "/loss/" in name}


STUDY = Experiment(
    name="transformer_details", title="Details of the Transformer, each at a rate of its own",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome, recorded=recorded,
    trials=Trials(arms, rates, VALIDATION, "wrong", outcome=wrong),
    config=lambda: {"task": TASK, "validation": VALIDATION, "arms": reported()},
    kinds=kinds(TASK), modules=(*TRANSLATORS, *TRANSFORMERS, "experiments.transformer.study"),
    claims=read_claims(__file__), smoke=lambda: smoke_trace(arms().values()),
)  # fmt: skip
