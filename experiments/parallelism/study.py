"""All positions at once, or one after the other: what the Transformer's design saves, on two cores.

The same Transformer reads the same right words twice: all positions in one pass, as in training,
and one position after the other with a cache, as when it writes. Both compute the same scores.
Beside it stands an update of a Transformer and of a recurrent translator with about as many
weights, with one thread and with two. Times are those of the clock, not of the processor, and of
the readings of a run the least counts. No graphics processor was at hand.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from companion.data.batching import Batch
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from companion.models.transformer import Transformer, TransformerConfig
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TEXTS, TRANSFORMERS
from experiments.engine.experiment import Experiment
from experiments.engine.kinds import number

SEEDS = (1, 2, 3, 4, 5)
THREADS = (1, 2)
ROUNDS = 5


@dataclass(frozen=True)
class Size:
    """Sentences and models: random words, for neither time depends on which words they are."""

    sentences: int = 64
    length: int = 32  # words of every source and every target
    words: int = 250
    embed_dim: int = 128
    state: int = 210  # of the recurrent translator, so chosen that it has about as many weights

    def batch(self, seed: int) -> Batch:
        """Draw a batch without padding."""
        generator = torch.Generator().manual_seed(seed)
        shape = self.sentences, self.length
        source, read, write = torch.randint(4, self.words, (3, *shape), generator=generator)
        lengths = torch.full(shape[:1], self.length)
        return Batch(source, lengths, read, write, torch.ones(shape, dtype=torch.bool))

    def transformer(self) -> Transformer:
        """Return an untrained Transformer with two blocks on either side."""
        return Transformer(
            TransformerConfig(
                self.words, embed_dim=self.embed_dim, hidden_dim=2 * self.embed_dim, dropout_p=0.0
            )
        )

    def recurrent(self) -> Seq2Seq:
        """Return an untrained recurrent translator with additive attention."""
        return Seq2Seq(
            Seq2SeqConfig(
                self.words, self.words, embed_dim=self.embed_dim // 2, hidden_dim=self.state,
                attention="additive", dropout_p=0.0,
            )
        )  # fmt: skip


SIZE = Size()


@torch.no_grad()
def at_once(model: Transformer, batch: Batch) -> Tensor:
    """Score every next word, (b, q, words), in one pass."""
    return model(batch)


@torch.no_grad()
def one_by_one(model: Transformer, batch: Batch) -> Tensor:
    """Score every next word, (b, q, words), one position after the other."""
    state = model.start(batch.source, batch.source_lengths, max_len=batch.target_in.shape[1])
    scores = []
    for words in batch.target_in.unbind(1):
        logits, state, _ = model.step(words, state)
        scores.append(logits)
    return torch.stack(scores, 1)


def update(model: nn.Module, batch: Batch) -> None:
    """Compute the gradients of one update."""
    model.zero_grad(set_to_none=True)
    model.loss(batch).backward()  # type: ignore[operator]


def calls(size: Size, seed: int) -> dict[str, Callable[[], object]]:
    """Return what is timed, by name."""
    torch.manual_seed(seed)
    batch, transformer, recurrent = size.batch(seed), size.transformer(), size.recurrent()
    return {
        "at_once": partial(at_once, transformer, batch),
        "one_by_one": partial(one_by_one, transformer, batch),
        "update/transformer": partial(update, transformer, batch),
        "update/recurrent": partial(update, recurrent, batch),
    }


def outcome(seed: int, size: Size = SIZE, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the milliseconds of every call, with one thread and with two."""
    readings = list(rounds_of(calls(size, seed), rounds + 1))[1:]  # the first warms up
    return {name: 1000 * min(one[name] for one in readings) for name in readings[0]}


def rounds_of(timed: dict[str, Callable[[], object]], rounds: int) -> Iterator[dict[str, float]]:
    """Yield the seconds of every call with every number of threads, call after call."""
    before = torch.get_num_threads()
    try:
        for _ in range(rounds):
            seconds = {}
            for threads in THREADS:
                torch.set_num_threads(threads)
                for name, call in timed.items():
                    began = time.perf_counter()
                    call()
                    seconds[f"{name}/{threads}"] = time.perf_counter() - began
            yield seconds
    finally:
        torch.set_num_threads(before)


def smoke() -> list[float]:
    """Run the whole pipeline small, and return what it computes; how long it takes is not told."""
    small = Size(sentences=2, length=3, words=9, embed_dim=8, state=6)
    torch.manual_seed(7)
    batch, models = small.batch(7), (small.transformer(), small.recurrent())
    trace = [float(model.loss(batch)) for model in models]
    scores = [float(score(models[0], batch).abs().mean()) for score in (at_once, one_by_one)]
    return [*trace, *scores, float(len(outcome(7, small, 1)))]


def gain(runs: Runs, name: str) -> list[float]:
    """Return how many times as fast two threads are as one."""
    return [one / two for one, two in zip(runs[f"{name}/1"], runs[f"{name}/2"], strict=True)]


STUDY = Experiment(
    name="parallelism", title="All positions at once, or one after the other", seeds=SEEDS,
    beside=outcome, timed=True, kinds={"*": number("ms", 0, timed=True)},
    modules=(*TRANSFORMERS, *TEXTS, "companion.models.seq2seq"),
    claims=read_claims(__file__, gain), smoke=smoke,
    config=lambda: {"size": SIZE, "rounds": ROUNDS, "threads": THREADS}, workers=1,
)  # fmt: skip
