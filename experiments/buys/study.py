"""What does each mechanism buy? One table: the same sentences, updates and seeds for all.

No attention, additive and dot attention were trained with these settings by
`experiments.bottleneck`; their measures are read from its record. Luong's other forms, which are
general, concat and local-p (general in a window around a predicted position), and the Transformer
are trained here. What an update and a translated sentence cost, in seconds and in bytes, is
measured here for all of them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from statistics import median

import torch

from bookkit.records import Measure, load_result
from companion.cost import LiveBytes, cpu_seconds
from companion.data.batching import Batch, collate
from companion.models.seq2seq import Seq2SeqConfig
from companion.training import TrainingConfig, train
from companion.translation import TranslationModel
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS, TRANSLATORS
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import exact, number
from experiments.engine.settings import REPORT_SEEDS, REPORT_STEPS, reported
from experiments.engine.translators import (
    GrammarTask,
    Setting,
    Trainable,
    bin_name,
    kinds,
    outcome,
    parameter_count,
    smoke_trace,
)
from experiments.engine.update_cost import update_seconds
from experiments.transformer import study as transformer

TASK = GrammarTask()
COST_TASK = replace(TASK, train_pairs=2000, test_pairs=100, bins=((26, 30),))
"""Where the sentences come from on which seconds and bytes are measured."""
SENTENCES = 64
"""How many sentences of 26 to 30 words bytes and decoding are measured on."""
RECORDED = "bottleneck"
"""The study that trained what `reported` names."""


@dataclass(frozen=True)
class LocalSetting(Setting):
    """A translator that looks at a window around a position it predicts, and its training."""

    window: int = 5

    def config(self, vocabularies: tuple[int, int]) -> Seq2SeqConfig:
        """Return the model's configuration, for source and target vocabularies of a size."""
        return replace(super().config(vocabularies), window=self.window)


def trained_here() -> dict[str, Trainable]:
    """Return the settings of what this study trains.

    Luong's forms were not tuned. General and local-p have the settings of dot, from which they
    differ by a matrix and by a window. Concat has those of additive attention, from which it
    differs by the state that looks and by the scale of the first weights. The Transformer was tuned
    by its own study, for fewer updates. All but concat's were fixed before a reported run was seen.
    """
    general = replace(reported()["dot"], attention="general")
    return {
        "general": general,
        "local": LocalSetting(**vars(general)),
        "concat": replace(reported()["additive"], attention="concat"),
        "transformer": replace(transformer.tuned("transformer"), steps=REPORT_STEPS),
    }


def everyone() -> dict[str, Trainable]:
    """Return the settings of all arms; the first has no attention."""
    return {**reported(), **trained_here()}


def costs(settings: Mapping[str, Trainable], seed: int, task: GrammarTask) -> dict[str, float]:
    """Return what training and decoding take, in seconds and bytes, for every arm.

    Bytes are those of tensors: of two updates the most at once, weights, gradients and moments
    included; of decoding what is kept from word to word, the weights left out. Both are of
    `SENTENCES` sentences of the task's last bin. The weights are not trained: neither depends on
    their values.
    """
    corpus = task.corpus(seed)
    batch = collate(
        corpus.tests[bin_name(*task.bins[-1])][:SENTENCES], corpus.source_vocab, corpus.target_vocab
    )
    models = {name: setting.build(corpus.vocabularies).eval() for name, setting in settings.items()}
    calls = {name: partial(decode, model, batch) for name, model in models.items()}
    decoding = cpu_seconds(calls, rounds=3)
    updates = update_seconds(settings, task, seed, rounds=3, updates=10)
    return {
        f"{name}/{what}": value
        for name, setting in settings.items()
        for what, value in {
            "parameters": float(parameter_count(setting, corpus.vocabularies)),
            "update_seconds": updates[name],
            "decoding_seconds": median(decoding[name]) / len(batch.source),
            "training_mib": training_mib(setting, corpus.vocabularies, batch),
            "decoding_mib": decoding_mib(models[name], batch),
        }.items()
    }


@torch.no_grad()
def decode(model: TranslationModel, batch: Batch) -> object:
    """Write the right words of a batch one after the other, as a decoder writes its own."""
    state = model.start(batch.source, batch.source_lengths, max_len=batch.target_in.shape[1])
    for tokens in batch.target_in.unbind(1):
        _, state, _ = model.step(tokens, state)
    return state


def training_mib(setting: Trainable, vocabularies: tuple[int, int], batch: Batch) -> float:
    """Return the most MiB of tensors at once in two updates, from the first weights on."""
    with LiveBytes() as count:
        model = setting.build(vocabularies)
        config = TrainingConfig(2, warmup_steps=1)
        train(model, [batch, batch], setting.loss, config, progress=False)
    return float(count.peak / 2**20)


def decoding_mib(model: TranslationModel, batch: Batch) -> float:
    """Return the MiB of tensors that decoding keeps from word to word, beside the weights."""
    with LiveBytes() as count:
        state = decode(model, batch)
        kept = count.live
        del state
    return float(kept / 2**20)


def all_costs(seed: int) -> dict[str, float]:
    """Return the costs of all arms, and each update's as a multiple of one without attention."""
    spent = costs(everyone(), seed, COST_TASK)
    return spent | {
        f"{arm}/update_cost": spent[f"{arm}/update_seconds"] / spent["none/update_seconds"]
        for arm in everyone()
        if arm != "none"
    }


@cache
def recorded() -> dict[str, Measure]:
    """Return the exact match and BLEU of what the other study trained."""
    study = load_result(RECORDED)
    for arm, setting in reported().items():
        wanted = json.loads(json.dumps({"setting": setting, "task": TASK}, default=vars))
        if study.config[arm] != wanted or study.seeds != REPORT_SEEDS:
            raise ValueError(f"{RECORDED}: its {arm} was not trained as {arm} is here")
    return {
        name: entry
        for name, entry in study.measures.items()
        if name.split("/")[0] in reported() and name.split("/")[1] in ("exact_match", "bleu")
    }


STUDY = Experiment(
    name="buys",
    title="What attention buys: seven mechanisms, the same sentences, updates and seeds",
    seeds=REPORT_SEEDS, arms=lambda: on(TASK, trained_here()), outcome=outcome, beside=all_costs,
    timed=True,
    config=lambda: {
        "task": TASK, "trained": trained_here(), "recorded": dict.fromkeys(reported(), RECORDED),
        "cost_task": COST_TASK, "sentences": SENTENCES,
    },
    kinds={"*_seconds": number("s", 0, timed=True), "*_mib": exact("MiB"), **kinds(TASK)},
    modules=(
        *TRANSLATORS, *TRANSFORMERS, "companion.cost",
        "experiments.engine.update_cost", "experiments.transformer.study",
    ),
    claims=read_claims(__file__), elsewhere=recorded,
    smoke=lambda: smoke_trace(trained_here().values()),
)  # fmt: skip
