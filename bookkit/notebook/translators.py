"""The small translators of the pages, as the study `live` trains them.

Not imported with the rest of this package, because it needs PyTorch, which some pages do without.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from bookkit.data.grammar import english_spanish
from bookkit.notebook.trained import trained
from bookkit.records import Study, load_result
from companion.data.batching import PooledBatches
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from companion.training import TrainingConfig, train
from companion.translation import Translator

_STUDY = "live"


@dataclass(frozen=True)
class SmallTask:
    """What the small translators learn from, and what they are tested on."""

    seed: int  # decides the training pairs, first weights and order of batches
    training: list[Pair]  # pairs to learn from; no test sentence is among them
    # Pairs by the name of the test: "test", "held_out", and by length, as "11-14"
    tests: dict[str, list[Pair]]
    english: Vocabulary  # the vocabulary of the source
    spanish: Vocabulary  # the vocabulary of the target


def small_task(seed: int, *, apart_from: Iterable[Pair] = ()) -> SmallTask:
    """Draw the sentences of one run of the study `live`: the grammar's, of at most 14 words.

    Args:
        seed: of the run; the test sentences are the same for all seeds.
        apart_from: further pairs that must not be trained on, because the page shows them.

    >>> task = small_task(6)
    >>> len(task.training), sorted(task.tests)
    (10000, ['01-05', '06-10', '11-14', 'held_out', 'test'])
    """
    config = _study().config["none"]["task"]
    longest = config["max_length"]
    wishes: dict[str, dict[str, Any]] = {
        "test": {"count": config["test_pairs"]},
        "held_out": {"count": config["test_pairs"] // 2, "combinations": "held_out"},
    }
    for low, high in config["bins"]:
        lengths = {"min_length": low, "max_length": high}
        wishes[f"{low:02d}-{high:02d}"] = {"count": config["bin_pairs"], **lengths}
    tests = {
        name: english_spanish(seed=config["test_seed"] + number, **{"max_length": longest} | wish)
        for number, (name, wish) in enumerate(wishes.items())
    }
    unseen = [*(pair for pairs in tests.values() for pair in pairs), *apart_from]
    training = english_spanish(config["train_pairs"], seed=seed, max_length=longest, exclude=unseen)
    everything = [*training, *unseen]
    words = Vocabulary.from_tokens(pair.source for pair in everything)
    others = Vocabulary.from_tokens(pair.target for pair in everything)
    return SmallTask(seed, training, tests, words, others)


def small_translator(
    kind: str, task: SmallTask, *, model: type[Seq2Seq] = Seq2Seq, steps: int | None = None
) -> Translator:
    """Return a small translator with the settings of the study `live`.

    Those that the pages show are stored; any other is trained, in ten to twenty seconds.

    Args:
        kind: "none", "dot" or "additive": its attention.
        task: what it learns from.
        model: `Seq2Seq`, or a class derived from it that computes something else.
        steps: updates; by default as many as in the study.

    >>> small_translator("none", small_task(6), steps=1).model.config.attention
    'none'
    """
    arms = _study().config
    if kind not in arms:
        raise ValueError(f"kind: got {kind!r}, wanted one of {', '.join(sorted(arms))}")
    setting = arms[kind]["setting"]
    torch.manual_seed(task.seed)
    made = model(
        Seq2SeqConfig(
            len(task.english), len(task.spanish), setting["embed_dim"], setting["hidden_dim"],
            attention=setting["attention"], query=setting["query"], dropout_p=setting["dropout_p"],
        )
    )  # fmt: skip
    batches = PooledBatches(
        task.training, task.english, task.spanish, batch_size=setting["batch_size"], seed=task.seed
    )
    updates = steps or setting["steps"]
    warmup = min(setting["warmup_steps"], updates)
    config = TrainingConfig(updates, setting["learning_rate"], warmup, seed=task.seed)
    sentences = repr([(pair.source, pair.target) for pair in task.training])
    trained(
        f"small-{kind}-{hashlib.sha256(sentences.encode()).hexdigest()[:8]}",
        made,
        lambda: train(made, batches, model.loss, config),
        anew=model is not Seq2Seq or steps is not None,
    )
    return Translator(made, task.english, task.spanish)


def _study() -> Study:
    return load_result(_STUDY)
