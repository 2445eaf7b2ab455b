"""A specification in words: what the columns of the atlas say, and what tells a mixer apart."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from bookkit.atlas.kinds import Reach, has_positions, kind_of, mixers_of, parts_of, pattern
from companion.models.atlas.experts import ExpertsSpec
from companion.models.atlas.kept import INDEXER_KEYS
from companion.models.atlas.mixers.compressed import CompressedSpec
from companion.models.atlas.mixers.softmax import AttentionSpec
from companion.models.atlas.norms import NormSpec
from companion.models.atlas.specs import LayerSpec, ModelSpec

LENGTH = 32_768
"""Tokens of the text for which bytes are counted."""
ITEMSIZE = 2
"""Bytes of a number in bfloat16."""

MARKS = (
    "sliding window", "MLA", "indexer", "compressed", "state", "short convolution", "sinks",
    "differential", "gated attention", "QK-norm", "NoPE", "shared keys and values",
    "per-layer embeddings",
)  # fmt: skip
"""What an architecture can have beside plain attention, by the names that people use.

Recurrent layers and short convolutions have gates and norms as a matter of course, so those words
are said of attention alone.
"""


@dataclass(frozen=True)
class Facts:
    """What the table says of a specification."""

    layers: int  # number of layers
    pattern: str  # in which order their kinds come
    heads: str  # query heads and heads of keys and values, with their width
    positions: str  # how a layer knows where tokens stand
    marks: tuple[str, ...]  # what the architecture has beside plain attention, of `MARKS`
    details: tuple[str, ...]  # what else is said of its mixers, each in a few words
    feed_forward: str  # what computes at every position
    norms: str  # where the norms of a block stand
    token: int  # numbers that one more token adds to a text that is longer than every window
    fixed: int  # numbers of states, which no token adds to
    bytes: int  # that are kept of a text of `LENGTH` tokens in bfloat16


def describe(spec: ModelSpec) -> Facts:
    """Return a specification in words.

    >>> from companion.models.atlas import AttentionSpec, LayerSpec, ModelSpec, RotarySpec
    >>> layer = LayerSpec(AttentionSpec(8, 2, 16, rotary=RotarySpec(8)), None)
    >>> facts = describe(ModelSpec(11, 16, (layer,) * 4))
    >>> facts.pattern, facts.heads, facts.positions, facts.token
    ('4 full', 'GQA 8 : 2 of 16', 'RoPE on 8 of 16', 256)
    """
    parts = [part for layer in spec.layers for part in layer.keeps()]
    growing = [one for one in parts if one.tokens and one.limit is None and one.beyond is None]
    return Facts(
        layers=len(spec.layers),
        pattern=pattern(spec),
        heads="; ".join(filter(None, dict.fromkeys(map(heads, _mixers(spec))))),
        positions=_by_layers(filter(None, map(position_words, _mixers(spec)))) or "in the state",
        marks=tuple(mark for mark in MARKS if mark in marks(spec)),
        details=tuple(dict.fromkeys(d for one in _mixers(spec) for d in details(one))),
        feed_forward=_by_layers(feed_forward_words(one.feed_forward) for one in spec.layers),
        norms="; ".join(dict.fromkeys(map(_norm_words, spec.layers))),
        token=int(sum(Fraction(one.numbers, one.tokens or 1) for one in growing)),
        fixed=sum(one.numbers for one in parts if one.tokens is None),
        bytes=spec.state_bytes(LENGTH, itemsize=ITEMSIZE),
    )


def _mixers(spec: ModelSpec) -> Iterator[Any]:
    """Yield the mixers of all layers."""
    return (mixer for layer in spec.layers for mixer in mixers_of(layer))


def marks(spec: ModelSpec) -> set[str]:
    """Return what an architecture has beside plain attention, of `MARKS`."""
    return {mark for layer in spec.layers for mark in _marks_of(layer)}


def _marks_of(layer: LayerSpec) -> Iterator[str]:
    if layer.shares is not None:
        yield "shared keys and values"
    if layer.token_input is not None:
        yield "per-layer embeddings"
    for mixer in mixers_of(layer):
        yield from _marks_of_mixer(mixer, kind_of(replace(layer, mixer=mixer, beside=None)).reach)


def _marks_of_mixer(mixer: Any, reach: Reach) -> Iterator[str]:
    name = type(mixer).__name__
    found = {
        "sliding window": reach == "window",
        "state": reach == "state",
        "short convolution": reach == "short",
        "MLA": "Latent" in name,
        "differential": "Differential" in name,
        "indexer": any(part.what == INDEXER_KEYS for part in mixer.keeps()),
        "compressed": isinstance(mixer, CompressedSpec) and mixer.size is not None,
        "NoPE": reach not in ("state", "short") and not has_positions(mixer),
    }
    yield from (mark for mark, there in found.items() if there)
    given = {part for part, value in parts_of(mixer) if value not in (None, False)}
    if "sinks" in given or isinstance(mixer, CompressedSpec):
        yield "sinks"
    if "gate" in given and reach not in ("state", "short"):
        yield "gated attention"
    if "qk_norm" in given:
        yield "QK-norm"


def heads(mixer: Any) -> str:
    """Say how many heads a mixer has, and how wide they are.

    >>> heads(AttentionSpec(64, 8, 128, value_dim=64))
    'GQA 64 : 8 of 128, values of 64'
    """
    query = _first(mixer, "num_heads", "num_key_heads")
    shared = _first(mixer, "num_kv_heads", "num_value_heads")
    width = _first(mixer, "head_dim", "key_dim")
    value = _first(mixer, "value_dim")
    if query is None:
        return ""
    if type(mixer).__name__ == "LatentSpec":
        part = f" + {mixer.rotary_dim}" if mixer.rotary_dim else ""
        return f"MLA {query} of {width}{part}, values of {value}"
    said = f"{query}" if shared in (None, query) else f"{query} : {shared}"
    if hasattr(mixer, "num_kv_heads"):
        said = f"{'MHA' if shared == query else 'MQA' if shared == 1 else 'GQA'} {said}"
    if width is None:
        return f"{said} heads"
    return f"{said} of {width}" + (f", values of {value}" if value not in (None, width) else "")


def _first(mixer: Any, *names: str) -> int | None:
    """Return the first of some fields that a mixer has."""
    return next((one for name in names if (one := getattr(mixer, name, None)) is not None), None)


def position_words(mixer: Any) -> str:
    """Say how a mixer knows where tokens stand; empty where the question does not arise.

    >>> position_words(AttentionSpec(8, 2, 16))
    'NoPE'
    """
    rotary = getattr(mixer, "rotary", None)
    if rotary is not None:
        width = _first(mixer, "head_dim")
        if hasattr(mixer, "rotary_dim"):
            part = f"RoPE on a shared part of {rotary.width}"
        elif width in (None, rotary.width):
            part = "RoPE"
        else:
            part = f"RoPE on {rotary.width} of {width}"
        if rotary.scaling is None:
            return part
        ways = {"Yarn": " by YaRN", "Llama3": " as in Llama 3"}
        return f"{part}, stretched{ways.get(type(rotary.scaling).__name__, '')}"
    kind = type(mixer).__name__
    return "NoPE" if kind == "AttentionSpec" or "Latent" in kind else ""


def details(mixer: Any) -> Iterator[str]:
    """Yield, in a few words each, what a mixer has beside heads, reach and positions.

    >>> list(details(AttentionSpec(8, 2, 16, sinks=True, softcap=50.0)))
    ['a sink in each head', 'scores bounded by 50']
    """
    if mixer is None:
        return
    yield from _common_details(mixer)
    if isinstance(mixer, AttentionSpec):
        yield from _attention_details(mixer)
        return
    for part in mixer.keeps():
        yield f"keeps {part.what}: {_amount(part)}"


def _amount(part: Any) -> str:
    """Say how many numbers a part of a cache has."""
    if part.tokens is None:
        return f"{part.numbers:,} numbers in all"
    every = "a token" if part.tokens == 1 else f"every {part.tokens} tokens"
    limit = "" if part.limit is None else f", of the last {part.limit:,}"
    return f"{part.numbers:,} numbers {every}{limit}"


def _common_details(mixer: Any) -> Iterator[str]:
    found = {name: value for name, value in parts_of(mixer) if value not in (None, False)}
    if "qk_norm" in found:
        over = " of all heads together" if found.get("qk_norm_over") == "all" else ""
        after = ", after the rotation" if found.get("qk_norm_after_rotary") else ""
        gain = ", without weights" if found["qk_norm"].gain == "none" else ""
        yield f"QK-norm{over}{after}{gain}"
    if "value_norm" in found:
        yield "norm on values"
    if "sinks" in found:
        yield "a sink in each head"
    if "gate" in found:
        each = {"head": "head", "feature": "feature"}.get(str(found["gate"]))
        yield "output gate" + (f", one for each {each}" if each else "")
    if "output_norm" in found:
        yield "norm on what a head gathers"
    if "softcap" in found:
        yield f"scores bounded by {found['softcap']:g}"


def _attention_details(mixer: AttentionSpec) -> Iterator[str]:
    if mixer.key_is_value:
        yield "values are the keys"
    if mixer.scale is not None and abs(mixer.scale * mixer.head_dim**0.5 - 1) > _NEAR:
        yield f"scores times {mixer.scale:.3g} in place of 1/√{mixer.head_dim}"
    if mixer.value_scale != 1:
        yield f"values times {mixer.value_scale:.3g}"
    if mixer.length_scale is not None:
        yield f"queries grow with the position, from {mixer.length_scale[1]:,} tokens on"
    if mixer.bias:
        where = "all projections" if mixer.output_bias else "queries, keys and values"
        yield f"biases on {where}"


_NEAR = 1e-6


def _by_layers(said: Iterable[str]) -> str:
    """Return what holds for every layer, or each thing that differs with its number of layers."""
    counts = Counter(said)
    if len(counts) < 2:
        return "".join(counts)
    return "; ".join(f"{words} in {n} layer{'s' * (n > 1)}" for words, n in counts.items())


def feed_forward_words(part: Any) -> str:
    """Say what computes at a position.

    >>> feed_forward_words(ExpertsSpec(num_experts=128, experts_per_token=8, hidden_dim=768))
    '8 of 128 experts'
    """
    if part is None:
        return "nothing"
    if isinstance(part, ExpertsSpec):
        shared = "" if part.shared_dim is None else " and a shared one"
        return f"{part.experts_per_token} of {part.num_experts} experts{shared}"
    names = {"silu": "SwiGLU", "gelu": "GeGLU", "gelu_tanh": "GeGLU"}
    name = names.get(part.activation, "gated") if part.gated else "without a gate"
    return f"{name}, {part.hidden_dim:,} wide"


def _norm_words(layer: LayerSpec) -> str:
    names = {(True, False): "before", (False, True): "after", (True, True): "before and after"}
    where = names.get((layer.pre_norm is not None, layer.post_norm is not None))
    if where is None:
        return "none"
    norm = layer.pre_norm or layer.post_norm or NormSpec()
    kind = "LayerNorm" if norm.centred else "RMS norm"
    if layer.parallel:
        each = "one each" if layer.two_norms else "one for both"
        return f"{kind} {where} the two parts, {each}, which run side by side"
    return f"{kind} {where} each part"


def in_bytes(number: int) -> str:
    """Write a number of bytes.

    >>> in_bytes(4_563_402_752), in_bytes(512), in_bytes(3 * 2**19)
    ('4.2 GiB', '512 bytes', '1.5 MiB')
    """
    for size, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if number >= size:
            value = number / size
            return f"{value:.0f} {unit}" if value >= _WHOLE else f"{value:.1f} {unit}"
    return f"{number} bytes"


_WHOLE = 10
