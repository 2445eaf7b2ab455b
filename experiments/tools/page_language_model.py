"""Train the language model that a reader's browser runs, and store it in eight bits a weight.

`python -m experiments.tools.page_language_model` trains it on the stories of the study
`language_model`, in about a minute on one thread. It writes what the page holds, and beside the
tests a copy that is not quantized.
"""

import argparse
from dataclasses import asdict
from pathlib import Path
from statistics import fmean

import torch

from bookkit.data.stories import surprisals
from bookkit.playables.finishing import MODEL
from bookkit.playables.weights import save_language_model
from companion.data.texts import TextBatches, text_ids
from companion.data.vocabulary import Vocabulary
from companion.models.transformer import LanguageModel, TransformerConfig
from companion.training import TrainingConfig
from experiments.engine.descent import train_new
from experiments.language_model.study import TASK, corpus
from experiments.tools.stamp import current_run

UNROUNDED = Path("tests/bookkit/playables/story-model-16-bit.safetensors")
TRAINING = TrainingConfig(steps=2000, learning_rate=0.01, warmup_steps=50, seed=1)
BATCH_SIZE = 32


def page_shape(vocab: Vocabulary) -> TransformerConfig:
    """Return the shape of the page's model: two blocks of Llama's kind, 32 numbers wide."""
    return TransformerConfig(
        vocab_size=len(vocab),
        embed_dim=32,
        num_heads=4,
        num_kv_heads=2,
        hidden_dim=88,
        num_layers=2,
        positions="rotary",
        norm="rms",
        activation="silu",
        gated=True,
        feed_forward_bias=False,
        embedding_scale=False,
        dropout_p=0.0,
    )


def main() -> None:
    """Train, round and write."""
    argparse.ArgumentParser(
        prog="python -m experiments.tools.page_language_model", description=__doc__
    ).parse_args()
    torch.set_num_threads(1)
    texts, test = corpus(TASK.train, TASK.train_seed), corpus(TASK.test, TASK.test_seed)
    vocab = Vocabulary.from_tokens(texts)
    batches = TextBatches(texts, vocab, batch_size=BATCH_SIZE, seed=TRAINING.seed)
    model, _ = train_new(
        lambda: LanguageModel(page_shape(vocab)), batches, lambda m, batch: m.loss(*batch), TRAINING
    )
    with torch.no_grad():
        for weight in model.parameters():  # both files come from the same rounded weights
            weight.copy_(weight.half())
        loss = float(model.loss(*text_ids(test, vocab)))
    about = {
        "command": "python -m experiments.tools.page_language_model",
        "training": asdict(TRAINING),
        "stories": {"train": TASK.train, "seed": TASK.train_seed},
        "loss": round(loss, 4),
        "entropy": round(fmean(nats for text in test for nats in surprisals(text)), 4),
        **current_run(),
    }
    MODEL.parent.mkdir(exist_ok=True)
    save_language_model(model, vocab, MODEL, about=about)
    save_language_model(model, vocab, UNROUNDED, bits=16, about=about)


if __name__ == "__main__":
    main()
