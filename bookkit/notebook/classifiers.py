"""The small classifiers of the pages, as the study `explanation` trains them.

Not imported with the rest of this package, because it needs PyTorch, which some pages do without.
"""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from bookkit.data.classification import (
    ClassificationTask,
    Examples,
    LookupTask,
    MajorityTask,
    MarkerTask,
)
from bookkit.notebook.trained import trained
from bookkit.records import load_result
from companion.interpret import classifier_read
from companion.interpret.words import Read
from companion.models.classifier import AttentionClassifier, ClassifierConfig, Encoded
from companion.training import TrainingConfig, train

_STUDY = "explanation"
TASKS: dict[str, ClassificationTask] = {
    "marker": MarkerTask(),
    "majority": MajorityTask(),
    "lookup": LookupTask(),
}


@dataclass(frozen=True)
class _Drawn:
    """Fresh sentences for every update."""

    task: ClassificationTask
    seed: int

    def __getitem__(self, step: int, /) -> Examples:
        return self.task.draw(64, Generator().manual_seed(1_000_003 * self.seed + step))


def classifier(name: str, seed: int) -> AttentionClassifier:
    """Return a classifier with its setting in the study, in double precision.

    Those that the pages show are stored; any other is trained, in a few seconds.

    Args:
        name: of the arm, such as "marker/gru/additive".
        seed: of its first weights and of its sentences.
    """
    arm = load_result(_STUDY).config["arms"][name]
    task = TASKS[arm["task"]]
    torch.manual_seed(seed)
    model = AttentionClassifier(
        ClassifierConfig(
            task.vocab_size, task.classes, task.questions, arm["embed_dim"], arm["encoder"],
            arm["attention"],
        )
    )  # fmt: skip

    def loss(model: AttentionClassifier, batch: Examples) -> Tensor:
        logits = model(batch.tokens, batch.lengths, batch.question)
        return torch.nn.functional.cross_entropy(logits, batch.labels)

    config = TrainingConfig(arm["steps"], arm["learning_rate"], arm["warmup_steps"], seed=seed)
    trained(
        f"explained-{name.replace('/', '-')}-{seed}",
        model,
        lambda: train(model, _Drawn(task, seed), loss, config, progress=False),
    )
    return model.double()


def held_out(name: str) -> Examples:
    """Return the sentences on which the study tests the classifiers of a task."""
    count = load_result(_STUDY).config["tests"]["examples"]
    return TASKS[name].draw(count, Generator().manual_seed(90_001))


@torch.no_grad()
def looked(model: AttentionClassifier, batch: Examples) -> tuple[Encoded, Tensor, Read]:
    """Return what a model has read, its weights, and what it says as a function of weights."""
    read = model.encode(batch.tokens, batch.lengths, batch.question)
    return read, model.weights(read), classifier_read(model, read)
