"""Which attention to take: ways to keep less of a text, what each costs, and what it gives up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from bookkit.playables.calculator import LENGTHS, MEMORIES, PRECISIONS, published
from bookkit.playables.playable import Playable, playable
from bookkit.playables.speeds import written_token
from bookkit.records import load_result

if TYPE_CHECKING:
    from companion.models.atlas import ModelSpec

SHAPE = "Llama 3.1 8B"
"""The model whose shape and weights all ways have: 32 layers, 32 heads of width 128."""
NUM_LAYERS, HEADS, WIDTH = 32, 32, 128
WINDOW, FIRST, NARROW = 4096, 4, 1024
"""Tokens of a window, the first ones that may stay beside it, and a window in a mixture."""

TEXTS = tuple(2**power for power in range(8))
"""How many texts may be read at once."""
ROOMS = tuple(one for one in MEMORIES if one >= 16)  # the weights take 15 GiB
WANTED = ("the gist", "the last pages", "anything")
"""What a model must bring back, from little to much."""
BITS = [*((name, PRECISIONS[name], 2) for name in ("bfloat16", "8 bits")), ("4 bits", 0.5, 0)]
"""Names, bytes, and what the cache brings back at most, as far as it was measured."""


class Way(NamedTuple):
    """A way to keep less of a text."""

    name: str  # in the drawing
    title: str  # in words
    mixers: Sequence[Any]  # of the layers, again and again
    where: str  # the section that says how we know
    among: Callable[[tuple[str, ...], float], bool]  # its models: kinds of layers, keys per query
    lost: str  # what it gives up
    back: int = 2  # what it brings back, the place in WANTED
    given: bool = False  # whether a given model can be read like that

    def spec(self) -> ModelSpec:
        """Return a model of 32 such layers, without feed-forward layers."""
        from companion.models.atlas import LayerSpec, ModelSpec

        mixers = [self.mixers[at % len(self.mixers)] for at in range(NUM_LAYERS)]
        return ModelSpec(1, HEADS * WIDTH, tuple(LayerSpec(one, None) for one in mixers))

    def layers(self) -> list[dict[str, Any]]:
        """Return what its layers keep, in the form that the calculator counts."""
        every = groupby(layer.keeps() for layer in self.spec().layers)
        return [
            {"count": len([*same]), "keeps": [asdict(part) for part in parts]}
            for parts, same in every
        ]


@cache
def ways() -> tuple[Way, ...]:
    """Return the ways to choose from, with what each gives up by the stored studies.

    >>> [way.name for way in ways() if way.given]
    ['grouped heads (GQA)', 'windows + first tokens']
    """
    from companion.models.atlas.kept import Kept
    from companion.models.atlas.mixers.gated_delta import GatedDeltaSpec
    from companion.models.atlas.mixers.indexed import IndexerSpec
    from companion.models.atlas.mixers.latent import LatentSpec
    from companion.models.atlas.mixers.softmax import AttentionSpec
    from companion.models.atlas.specs import CountedSpec

    full, narrow = (AttentionSpec(HEADS, 8, WIDTH, window=size) for size in (None, NARROW))
    latent, indexed = (
        LatentSpec(HEADS, 512, WIDTH, 64, WIDTH, indexer=one)
        for one in (None, IndexerSpec(64, WIDTH, 2048))
    )
    state = GatedDeltaSpec(16, HEADS, WIDTH, WIDTH, conv_width=4)
    sinks = CountedSpec(
        (Kept("keys and values", 2 * 8 * WIDTH, limit=WINDOW - 1 + FIRST),), "never built"
    )
    heads, once, recall, mixed, less = map(
        load_result, ("kv_heads", "kv_heads_once", "recall", "hybrids", "less_kept")
    )

    def right(name: str) -> str:
        return f"{less[f'{name}/right'].mean:.0f}"

    numbers = f"of 100 numbers on a list, where reading all tokens gives {right('all')}"
    pairs = "of 32 pairs, in a model of some ten thousand weights"
    trained, read, reported = (
        f"choose_evidence.ipynb#{section}"
        for section in ("trained-to-keep-less", "read-with-less", "what-others-report")
    )
    return (
        Way("all heads (MHA)", "Keys for every head", [AttentionSpec(HEADS, HEADS, WIDTH)],
            trained, lambda kinds, share: kinds == ("full",) and share == 1,
            "It gives up nothing; the others are compared with it. It gives back "
            f"{recall['softmax/accuracy/32'].mean:.0f} % {pairs}."),
        Way("grouped heads (GQA)", "Four heads share their keys", [full],
            trained, lambda kinds, share: kinds == ("full",) and share < 1,
            "With 2 of 8 heads of keys, a model of 64,000 weights has the same loss on new "
            f"sentences, within {max(map(abs, heads['2/above_eight'].interval)):.2f} nats a word.",
            given=True),
        Way("one head (MQA)", "All heads share their keys", [AttentionSpec(HEADS, 1, WIDTH)],
            trained, lambda kinds, share: kinds == ("full",) and share == 0,
            "In a model of 62,000 weights that read its text eleven times, the loss is no higher "
            f"on new sentences, and {heads.claims['one_head_knows_less'].mean:.2f} nats a word "
            "higher on that text. Where a text is hardly read twice, it is "
            f"{once.claims['eight_beat_one'].mean:.2f} higher on new ones. Larger models can get "
            "worse, others report."),
        Way("short vectors (MLA)", "One short vector for each token", [latent],
            reported, lambda kinds, _: kinds == ("latent",),
            "We have not measured it. The authors of DeepSeek-V2 report better results than with "
            "keys for every head."),
        Way("MLA and an index", "Short vectors, of which an index chooses some", [indexed],
            read, lambda kinds, _: "indexed" in kinds,
            "It reads less and keeps more. Without an index or training, SmolLM2 reads the best 64 "
            f"keys of each head and gives {right('best/64')} {numbers}."),
        Way("windows", "The last 4,096 tokens", [AttentionSpec(HEADS, 8, WIDTH, window=WINDOW)],
            trained, lambda kinds, _: kinds == ("window",),
            f"A window of 24 tokens gives back {recall['window/accuracy/32'].mean:.0f} % {pairs}: "
            "the last ones, and some lucky guesses.", back=1),
        Way("windows + first tokens", "The last 4,096 tokens and the first four", [sinks],
            read, lambda *_: False,
            "With the last 64 tokens and the first one, SmolLM2 loses "
            f"{less.claims['window_reads_on'].mean:.2f} nats a token on a page, and gives "
            f"{right('window/64')} {numbers}.", back=1, given=True),
        Way("5 windows : 1 full", "Windows, and every sixth layer keeps all", [*[narrow] * 5, full],
            read, lambda kinds, _: kinds == ("full", "window"),
            "It has to be trained like that. SmolLM2, which was not, gives "
            f"{right('mixture/64')} {numbers}. Models that were are not measured here."),
        Way("states", "A state of fixed size in every layer", [state],
            "state_evidence.ipynb#what-is-forgotten", lambda kinds, _: kinds == ("state",),
            f"A state of 8 rows gives back {recall['delta/accuracy/32'].mean:.0f} % {pairs}, and "
            "more of the newest than of the oldest.", back=0),
        Way("3 states : 1 full", "Three layers of state, then one that keeps all",
            [*[state] * 3, full], "state_evidence.ipynb#layers-mixed",
            lambda kinds, _: "state" in kinds and "full" in kinds,
            f"It gives back {mixed['hybrid/accuracy/32'].mean:.0f} % {pairs}."),
        Way("3 states : 1 MLA", "Three layers of state, then one of short vectors",
            [*[state] * 3, latent], reported,
            lambda kinds, _: "state" in kinds and "latent" in kinds,
            "We have not measured it. The authors of Kimi Linear report better recall in long "
            "texts than with short vectors alone."),
    )  # fmt: skip


@cache
def atlas_kinds() -> tuple[tuple[tuple[str, ...], float], ...]:
    """Return of every published model of the atlas the kinds of its layers, and who shares keys.

    The second is 1 where every head of queries has keys of its own, 0 where all share them, and
    something between where some do.
    """
    from bookkit.atlas.kinds import kind_of, mixers_of
    from bookkit.atlas.rows import load_atlas

    found = {}
    for row in load_atlas().rows:
        mixers = [mixer for layer in row.spec.layers for mixer in mixers_of(layer)]
        heads = {
            (one.num_heads, one.num_kv_heads) for one in mixers if hasattr(one, "num_kv_heads")
        }
        share = max((0.0 if keys == 1 else keys / most for most, keys in heads), default=1.0)
        kinds = tuple(sorted({kind_of(layer).reach for layer in row.spec.layers}))
        if row.published.model:
            found[row.published.model] = kinds, share
    return tuple(found.values())


def count_of(way: Way) -> int:
    """Return how many published models of the atlas take a way."""
    return sum(way.among(*one) for one in atlas_kinds())


def choose_attention(*, caption: str = "") -> Playable:
    """Show what is left of the ways to keep less, in a situation that a reader sets.

    >>> choose_attention()
    Which attention fits: a drawing to play with.
    """
    models, count = len(atlas_kinds()), {way.name: count_of(way) for way in ways()}

    def who(way: Way) -> str:
        if way.name == "windows + first tokens":
            return "It needs no training, so the atlas has no row for it."
        return f"In the atlas: {count[way.name] or 'none'} of {models} published models."

    lengths = LENGTHS[3:]
    first = {
        "length": lengths.index(131_072), "texts": TEXTS.index(8), "memory": ROOMS.index(24),
        "precision": 0, "back": 2, "trained": 0, "way": 1,
    }  # fmt: skip
    return playable(
        "choose-attention", "Which attention fits", caption=caption, lengths=lengths,
        texts=TEXTS, memories=ROOMS, precisions=BITS, wanted=WANTED,
        weights=2 * written_token(published()[SHAPE])["held"], first=first,
        ways=[
            {
                "name": way.name, "title": way.title, "layers": way.layers(), "back": way.back,
                "given": way.given, "lost": way.lost, "where": way.where, "who": who(way),
            }
            for way in ways()
        ],
    )  # fmt: skip
