"""What does a smaller cache lose? Fewer key and value heads, and a window without its beginning.

A language model of two blocks and eight query heads reads rows of the grammar's sentences, with
eight, four, two or one head of keys and values; the parameters that are saved are left away, or
given to the feed-forward layers. Keys and values start at the size that they have with eight heads,
and the comparison is made twice, after few updates and after many. The models then read rows four
times as long with a cache of fixed size: the last words alone, or the first words and the last ones
(Xiao et al., 2024). `--tune` chooses a learning rate for every arm from one grid for each number of
updates, on seeds of its own.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from statistics import fmean

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from bookkit.data.grammar import english_spanish
from bookkit.data.grammar.reading import read
from companion.attention import attention_with_lse
from companion.cost import kv_cache_bytes
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary
from companion.masks import causal_mask, sliding_window_mask
from companion.models.transformer import LanguageModel, TransformerConfig
from companion.models.transformer.blocks import Block
from companion.positions import rotate
from companion.tiled import merge_attention
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import GRAMMAR, TEXTS, TRANSFORMERS
from experiments.engine.descent import CLIP, WARMUP, descend
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import exact, number
from experiments.engine.trials import Trials, tuned

SEEDS = tuple(range(601, 621))
UPDATES, EARLY = 1500, 200
"""The updates that decide, and so few that the models are still learning fast."""
LEARNING_RATES = {UPDATES: (0.0025, 0.005, 0.01, 0.02), EARLY: (0.00375, 0.0075, 0.015, 0.03)}
TEST_SEED = 80_001


@dataclass(frozen=True)
class Task:
    """Rows that begin with a mark and go on with sentences, each with its end."""

    sentences: int = 6000
    unread: int = 600
    max_length: int = 12
    length: int = 48
    stretch: int = 4
    batch_size: int = 8
    rows: int = 32
    cache: int = 24
    written: int = 12


@cache
def texts(task: Task, seed: int) -> tuple[Tensor, Tensor, Vocabulary]:
    """Return the sentences to read and the unread ones, each as one row of ids, and the words.

    The unread ones are the same for every seed.
    """
    unread = english_spanish(task.unread, seed=TEST_SEED, max_length=task.max_length)
    known = english_spanish(task.sentences, seed=seed, max_length=task.max_length, exclude=unread)
    words = Vocabulary.from_tokens(pair.source for pair in (*known, *unread))
    return _joined(known, words), _joined(unread, words), words


def _joined(pairs: Iterable[Pair], words: Vocabulary) -> Tensor:
    return torch.tensor([i for pair in pairs for i in (*words.encode(pair.source), words.eos_id)])


def rows_of(text: Tensor, length: int, starts: Tensor, bos_id: int) -> Tensor:
    """Return rows (b, length + 1): the mark, and the text from each start (b,) on."""
    positions = (starts[:, None] + torch.arange(length)) % len(text)
    return F.pad(text[positions], (1, 0), value=bos_id)


@dataclass(frozen=True)
class Setting:
    """One arm of the study and its training."""

    num_kv_heads: int
    hidden_dim: int = 128
    learning_rate: float = 0.0
    steps: int = UPDATES


TASK = Task()
WIDTH = 64
HEADS = 8
BLOCKS = 2
HIDDEN = 128


def make(setting: Setting, words: int) -> LanguageModel:
    """Draw a model for so many words, whose keys and values start as large as with eight heads."""
    config = TransformerConfig(
        vocab_size=words, embed_dim=WIDTH, num_heads=HEADS, num_kv_heads=setting.num_kv_heads,
        hidden_dim=setting.hidden_dim, num_layers=BLOCKS, positions="rotary", dropout_p=0.0,
    )  # fmt: skip
    model = LanguageModel(config)
    for block in _blocks(model):
        for projection in (block.self_attention.key_proj, block.self_attention.value_proj):
            with torch.no_grad():
                projection.weight *= start_as_eight(setting.num_kv_heads)
    return model


def start_as_eight(num_kv_heads: int) -> float:
    """Return the factor that gives fewer heads the weights' spread of eight.

    Glorot's rule draws a matrix with fewer rows from a wider range.

    >>> start_as_eight(8), round(start_as_eight(2), 3)
    (1.0, 0.791)
    """
    return math.sqrt((1 + num_kv_heads / HEADS) / 2)


def fit(setting: Setting, task: Task, seed: int) -> tuple[LanguageModel, list[float]]:
    """Train on the text of a seed; return the model and every update's loss."""
    text, _, words = texts(task, seed)
    return fit_to(text, words, setting, (task.batch_size, task.length), seed)


def fit_to(
    text: Tensor, words: Vocabulary, setting: Setting, size: tuple[int, int], seed: int
) -> tuple[LanguageModel, list[float]]:
    """Train on batches of some size, rows (b, n) that begin anywhere in a text.

    Arms of one seed see the same rows.
    """
    rows, length = size

    def draw(generator: Generator) -> Tensor:
        starts = torch.randint(len(text), (rows,), generator=generator)
        return rows_of(text, length, starts, words.bos_id)

    return descend(lambda: make(setting, len(words)), draw, LanguageModel.loss, setting, seed)


def streaming_attention(
    query: Tensor, key: Tensor, value: Tensor, *_: object, recent: int, kept: int, **__: object
) -> Tensor:
    """Attend to the last `recent` keys, the query's own among them, and to the first `kept`.

    Positions are those within the cache, as Xiao et al. (2024) count them: a query is never further
    from the first keys than the cache is long. Heads come rotated by their positions in the text.
    """
    n = query.shape[-2]
    near = torch.as_tensor(sliding_window_mask(n, left=recent - 1))
    near[:, :kept] = False
    attend = partial(attention_with_lse, enable_gqa=True)
    last: tuple[Tensor, Tensor] = attend(query, key, value, near)
    if not kept:
        return last[0]
    back = (torch.arange(n) - (kept + recent - 1)).clamp(min=0)
    first: tuple[Tensor, Tensor] = attend(
        rotate(query, -back), key[..., :kept, :], value[..., :kept, :],
        torch.as_tensor(causal_mask(n, kept)),
    )  # fmt: skip
    return merge_attention(*last, *first)[0]


@contextmanager
def attending(model: LanguageModel, attention_fn: Callable[..., Tensor]) -> Iterator[None]:
    """Let every layer compute attention by another function, for a while."""
    layers = [block.self_attention for block in _blocks(model)]
    usual = [layer.attention_fn for layer in layers]
    for layer in layers:
        layer.attention_fn = attention_fn
    try:
        yield
    finally:
        for layer, function in zip(layers, usual, strict=True):
            layer.attention_fn = function


def _blocks(model: LanguageModel) -> list[Block]:
    return [block for block in model.decoder.blocks if isinstance(block, Block)]


def caches(task: Task) -> dict[str, Callable[..., Tensor]]:
    """Return attention with a cache of one size: the last words alone, or the first ones too."""
    return {
        "evicted": partial(streaming_attention, recent=task.cache, kept=0),
        "kept/1": partial(streaming_attention, recent=task.cache - 1, kept=1),
        "kept/4": partial(streaming_attention, recent=task.cache - 4, kept=4),
    }


@torch.no_grad()
def loss_at_the_end(model: LanguageModel, rows: Tensor, words: int) -> float:
    """Return the loss of the last words of rows (b, n), in nats a word."""
    logits = model(rows[:, :-1])[:, -words:]
    return float(F.cross_entropy(logits.flatten(0, 1).double(), rows[:, -words:].flatten()))


@torch.no_grad()
def streamed(model: LanguageModel, unread: Tensor, bos_id: int, task: Task) -> dict[str, float]:
    """Measure the loss at the end of long rows: with all keys, a small cache, and read afresh.

    All are asked for the same words. "afresh" reads the last words as a row of their own, as long
    as those of training.
    """
    far, count = task.length * task.stretch, task.length - task.cache
    starts = torch.arange(task.rows) * len(unread) // task.rows
    rows = rows_of(unread, far, starts, bos_id)
    short = rows_of(unread, task.length, starts + far - task.length, bos_id)
    measures = {
        "stream/afresh": loss_at_the_end(model, short, count),
        "stream/all": loss_at_the_end(model, rows, count),
    }
    for name, function in caches(task).items():
        with attending(model, function):
            measures[f"stream/{name}"] = loss_at_the_end(model, rows, count)
    _, weights = model(short[:, :-1], need_weights=True)
    later = [layer[:, :, task.cache :, 0].double().mean((0, 2)) for layer in weights]
    return measures | {
        f"first/{number}": 100 * float(heads.mean()) for number, heads in enumerate(later, 1)
    }


@torch.no_grad()
def sound(model: LanguageModel, unread: Tensor, words: Vocabulary, task: Task, seed: int) -> float:
    """Let a model write far beyond its cache; return the share of sentences the grammar says, in %.

    Words are drawn with the probabilities that the model gives them. Sentences count that begin
    when the first words of the row have left the cache, and end; the share is 0 if none does.
    """
    generator = Generator().manual_seed(90_000 + seed)
    starts = torch.randint(len(unread), (task.written,), generator=generator)
    rows = rows_of(unread, task.cache // 2, starts, words.bos_id)
    for _ in range(task.length * 3 // 2):
        chances = model(rows)[:, -1].softmax(-1)
        rows = torch.cat((rows, torch.multinomial(chances, 1, generator=generator)), 1)
    verdicts: list[bool] = []
    for row in rows.tolist():
        ends = [n for n, word in enumerate(row) if word == words.eos_id and n >= task.cache]
        for before, end in pairwise(ends):
            verdicts.append(read([words.tokens[i] for i in row[before + 1 : end]]) is not None)
    return 100 * fmean(verdicts or [False])


def trial(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one arm, for its loss alone."""
    return {"final_loss": fmean(fit(setting, task, seed)[1][-50:])}


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one arm; measure its loss on unread sentences, and beyond the lengths of training."""
    model, losses = fit(setting, task, seed)
    _, unread, words = texts(task, seed)
    starts = torch.arange(4 * task.rows) * len(unread) // (4 * task.rows)
    rows = rows_of(unread, task.length, starts, words.bos_id)
    measures = {
        "final_loss": fmean(losses[-50:]),
        "loss": loss_at_the_end(model, rows, task.length),
        "parameters": sum(weight.numel() for weight in model.parameters()),
        **streamed(model, unread, words.bos_id, task),
    }
    if setting.hidden_dim == HIDDEN and setting.num_kv_heads in (1, HEADS):
        for name in ("evicted", "kept/4"):
            with attending(model, caches(task)[name]):
                measures[f"sound/{name}"] = sound(model, unread, words, task, seed)
    return measures


def matched(num_kv_heads: int) -> int:
    """Return the width of feed-forward layers that gives a model the parameters of eight heads."""
    saved = 2 * WIDTH**2 * (1 - num_kv_heads / HEADS)
    return HIDDEN + round(saved / (2 * WIDTH + 1))


def bytes_a_word(setting: Setting) -> int:
    """Return what the caches of all blocks keep of a word, in float32."""
    sizes = 1, setting.num_kv_heads, 1, WIDTH // HEADS
    return kv_cache_bytes(*sizes, num_layers=BLOCKS, dtype=torch.float32)


def arms() -> dict[str, Setting]:
    """Return every arm: by heads of keys and values, one with wider layers, three trained less."""
    plain = {str(g): Setting(g) for g in (8, 4, 2, 1)}
    early = {f"{g}-early": Setting(g, steps=EARLY) for g in (8, 2, 1)}
    return plain | {"1-wide": Setting(1, matched(1))} | early


def rates(setting: Setting) -> tuple[float, ...]:
    """Return the learning rates that are tried: a grid for each number of updates."""
    return LEARNING_RATES[setting.steps]


def reported() -> dict[str, Setting]:
    """Return the tuned arms."""
    return tuned("kv_heads", arms())


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of two arms, and what is measured of them."""
    task = Task(
        sentences=60, unread=30, max_length=8, length=12, batch_size=4, rows=3, cache=8, written=2
    )
    _, unread, words = texts(task, seed=7)
    trace: list[float] = []
    for arm in (Setting(8, 16), Setting(2, 24)):
        model, losses = fit(replace(arm, learning_rate=0.01, steps=6), task, seed=7)
        measures = streamed(model, unread, words.bos_id, task)
        trace += [*losses, *(v / 100 if k[:5] == "first" else v for k, v in measures.items())]
        trace.append(sound(model, unread, words, task, seed=7) / 100)
    return trace


def recorded(runs: Runs) -> Runs:
    """Add by how much the loss of every arm is above that of eight heads trained as long."""
    above = {}
    for name in arms():
        eight = runs["8-early/loss" if name.endswith("-early") else "8/loss"]
        losses = zip(runs[f"{name}/loss"], eight, strict=True)
        above[f"{name}/above_eight"] = [loss - its for loss, its in losses]
    return runs | above


STUDY = Experiment(
    name="kv_heads",
    title="A language model with fewer key and value heads, and with a cache of fixed size",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome, recorded=recorded,
    trials=Trials(arms, rates, TASK, metric="loss of the last 50 updates", outcome=trial),
    config=lambda: {
        "task": TASK, "width": WIDTH, "heads": HEADS, "blocks": BLOCKS, "warmup": WARMUP,
        "clip": CLIP, "cache_bytes": {name: bytes_a_word(arm) for name, arm in reported().items()},
        "arms": reported(),
    },
    kinds={
        "*/parameters": exact("weights"), "*/first/*": number("%", 0, 100),
        "*/sound/*": number("%", 0, 100), "*/above_eight": number("nats a word"),
        "*": number("nats a word", 0),
    },
    modules=(*TRANSFORMERS, *TEXTS, *GRAMMAR, "companion.cost", "companion.tiled"),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
