"""What kind a layer is, by what it lets a token reach and what it keeps of the text."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from itertools import groupby
from typing import Any, Literal

from companion.models.atlas.mixers.compressed import CompressedSpec
from companion.models.atlas.mixers.softmax import AttentionSpec
from companion.models.atlas.specs import LayerSpec, ModelSpec

Reach = Literal["full", "window", "latent", "indexed", "state", "short", "none"]
"""What a layer keeps: everything, the last tokens, a short vector a token, the same and an index,
a state of fixed size, the inputs of a convolution, nothing."""

REACHES: dict[Reach, str] = {
    "full": "keys and values of every token",
    "window": "keys and values of the last tokens",
    "latent": "a short vector of every token",
    "indexed": "every token, of which a query reads those that an index chooses",
    "state": "a state of fixed size",
    "short": "the last few tokens",
    "none": "nothing",
}
"""What each kind of layer keeps of a text, in words."""

_STATES = {
    "GatedDeltaSpec": "Gated DeltaNet",
    "KimiDeltaSpec": "Kimi Delta Attention",
    "LightningSpec": "lightning attention",
    "Mamba2Spec": "Mamba-2",
}


@dataclass(frozen=True)
class LayerKind:
    """A kind of layer."""

    reach: Reach  # what it lets a token reach, and keeps
    one: str  # what one such layer is called
    many: str  # what several are called

    def counted(self, number: int) -> str:
        """Say how many such layers there are.

        >>> LayerKind("window", "window of 1,024", "windows of 1,024").counted(5)
        '5 windows of 1,024'
        """
        return f"{number} {self.one if number == 1 else self.many}"


def kind_of(layer: LayerSpec) -> LayerKind:
    """Return the kind of a layer.

    >>> from companion.models.atlas import AttentionSpec, LayerSpec
    >>> kind_of(LayerSpec(AttentionSpec(4, 2, 8, window=7), None)).many
    'windows of 7 NoPE'
    """
    if layer.mixer is None:
        return LayerKind("none", "without attention", "without attention")
    kind = _own_kind(layer.mixer)
    if layer.beside is not None:
        other = _own_kind(layer.beside)
        further = other.reach if kind.reach in ("state", "short") else kind.reach
        kind = replace(_with(kind, f" beside {other.one}"), reach=further)
    if layer.chosen_by is not None:
        kind = _with(kind, ", that of an earlier layer")
    return kind if layer.shares is None else _with(kind, " shared by an earlier layer")


def mixers_of(layer: LayerSpec) -> list[Any]:
    """Return the mixers of a layer: none, one, or two side by side."""
    return [mixer for mixer in (layer.mixer, layer.beside) if mixer is not None]


def _with(kind: LayerKind, words: str) -> LayerKind:
    return LayerKind(kind.reach, f"{kind.one}{words}", f"{kind.many}{words}")


def _own_kind(mixer: Any) -> LayerKind:
    name = type(mixer).__name__
    still = "" if has_positions(mixer) else " NoPE"
    if isinstance(mixer, AttentionSpec):
        if mixer.window is not None:
            return _plural("window", "window", f" of {mixer.window:,}{still}")
        if mixer.chunk is not None:
            return _plural("window", "chunk", f" of {mixer.chunk:,}{still}")
        pairs = "" if type(mixer) is AttentionSpec else f" {spoken(mixer)}"
        return LayerKind("full", f"full{pairs}{still}", f"full{pairs}{still}")
    if chosen := top_k(mixer):
        latent = "MLA, " if "Latent" in name else ""
        return LayerKind("indexed", *[f"{latent}best {chosen:,} by an index"] * 2)
    if isinstance(mixer, CompressedSpec):
        return _compressed(mixer)
    if "Latent" in name:
        return LayerKind("latent", f"MLA{still}", f"MLA{still}")
    if name in _STATES:
        return LayerKind("state", _STATES[name], _STATES[name])
    words = spoken(mixer)
    if any(part.tokens is not None and part.limit is None for part in mixer.keeps()):
        return LayerKind("full", words, words)
    short = "Conv" in name
    return LayerKind("short" if short else "state", words, f"{words}s" if short else words)


def _compressed(mixer: CompressedSpec) -> LayerKind:
    """Say whether keys out of the window are pooled, and whether an index chooses among them."""
    if mixer.size is None:
        return _plural("window", "window", f" of {mixer.window:,}")
    pooled = f"pooled by {mixer.size}"
    if mixer.count is None:
        return LayerKind("full", pooled, pooled)
    return LayerKind("indexed", *[f"{pooled}, best {mixer.count:,} by an index"] * 2)


def _plural(reach: Reach, noun: str, rest: str) -> LayerKind:
    return LayerKind(reach, f"{noun}{rest}", f"{noun}s{rest}")


def has_positions(mixer: Any) -> bool:
    """Tell whether a mixer says where tokens stand, which all that do so do by rotation."""
    return any(name == "rotary" and value is not None for name, value in parts_of(mixer))


def spoken(mixer: Any) -> str:
    """Return the words that the name of a mixer's specification is made of.

    >>> class ShortConvSpec: ...
    >>> spoken(ShortConvSpec())
    'short convolution'
    """
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(mixer).__name__.removesuffix("Spec")).lower()
    return re.sub(r"\bconv\b", "convolution", words)


def parts_of(mixer: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a mixer and of the specifications in it, with their names."""
    for part in fields(mixer):
        value = getattr(mixer, part.name)
        yield part.name, value
        if is_dataclass(value) and not isinstance(value, type):
            yield from parts_of(value)


def top_k(mixer: Any) -> int | None:
    """Return how many keys an index chooses for a query; None where there is no index."""
    indexer = getattr(mixer, "indexer", None)
    return None if indexer is None else int(indexer.count)


def pattern(spec: ModelSpec) -> str:
    """Say in which order the kinds of layers come.

    >>> from companion.models.atlas import AttentionSpec, LayerSpec, ModelSpec, RotarySpec
    >>> near = LayerSpec(AttentionSpec(4, 2, 8, window=7, rotary=RotarySpec(8)), None)
    >>> far = LayerSpec(AttentionSpec(4, 2, 8, rotary=RotarySpec(8)), None)
    >>> pattern(ModelSpec(11, 16, (near, near, far) * 3))
    '2 windows of 7 : 1 full, 3 times'
    >>> pattern(ModelSpec(11, 16, (far,) * 4))
    '4 full'
    >>> pattern(ModelSpec(11, 16, (near, far) * 2 + (near,)))
    '(1 window of 7 : 1 full), 2 times, then 1 window of 7'
    """
    kinds = [kind_of(layer) for layer in spec.layers]
    if len(set(kinds)) == 1:
        return kinds[0].counted(len(kinds))
    found = min(_tellings(kinds), key=lambda one: (one[0], len(one[1])), default=None)
    if found is not None and found[0] <= _MANY:
        return found[1]
    counts = Counter(kinds)
    return ", ".join(kind.counted(number) for kind, number in counts.most_common()) + ", mixed"


_MANY = 5  # runs that can still be told


def _tellings(kinds: Sequence[LayerKind]) -> Iterator[tuple[int, str]]:
    """Yield descriptions of an order of layers, as a unit that repeats, with their lengths."""
    runs = _runs(kinds)
    yield len(runs), ", then ".join(runs)
    for begin in range(min(4, len(kinds))):
        for size in range(2, (len(kinds) - begin) // 2 + 1):
            unit, times = kinds[begin : begin + size], 1
            while kinds[begin + times * size : begin + (times + 1) * size] == unit:
                times += 1
            rest = kinds[begin + times * size :]
            if times < 2 or len(rest) >= size:
                continue
            before, inside, after = _runs(kinds[:begin]), _runs(unit), _runs(rest)
            if len(inside) < 2:
                continue
            unit_told = " : ".join(inside)
            middle = f"({unit_told})" if before or after else unit_told
            middle += f", {times} times"
            told = ", then ".join([*before, middle, *after])
            yield len(before) + len(inside) + len(after), told


def _runs(kinds: Sequence[LayerKind]) -> list[str]:
    return [kind.counted(len(list(group))) for kind, group in groupby(kinds)]


def alike(layer: LayerSpec) -> tuple[Any, ...]:
    """Return the mixers of a layer without what makes layers of one model differ in their reach.

    Windows and full layers that are otherwise built alike share a drawing, and so do layers with a
    factor that depends on their depth.
    """
    without = []
    for mixer in mixers_of(layer):
        optional = {part.name for part in fields(mixer) if part.default is not MISSING}
        found = optional & _BY_LAYER.keys()
        without.append(replace(mixer, **{name: _BY_LAYER[name] for name in found}))
    return tuple(without)


_BY_LAYER: dict[str, Any] = {
    "window": None, "chunk": None, "rotary": None, "first_factor": 0.5, "slope_scale": 1.0,
}  # fmt: skip
