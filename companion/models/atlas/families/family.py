"""What a family of models is: how its config.json is read, and what its weights are called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import NamedTuple

import torch
from torch import Tensor

from companion.models.atlas.model import DecoderModel
from companion.models.atlas.specs import LayerSpec, ModelSpec
from companion.models.options import Options

Tensors = Mapping[str, Tensor]
Make = Callable[[Tensor, LayerSpec], Tensor]


class Made(NamedTuple):
    """A weight that is made of one stored under another form.

    Attributes:
        name: the stored tensor, or several whose rows follow one another; * is the number of the
            layer.
        make: from the stored rows and the layer's specification to the weight.
    """

    name: str | tuple[str, ...]
    make: Make

    @property
    def names(self) -> tuple[str, ...]:
        """All stored tensors."""
        return (self.name,) if isinstance(self.name, str) else self.name

    def at(self, number: str, ending: str) -> Made:
        """Return the same for a layer of some number, and a kind of weight such as ".bias"."""
        names = [name.replace("*", number, 1) + ending for name in self.names]
        return Made(tuple(names), self.make)


Names = Mapping[str, str | Made]


@dataclass(frozen=True)
class Family:
    """One model_type of Hugging Face's library.

    Attributes:
        read: makes the specification from the fields of a config.json.
        names: names of modules or weights of `DecoderModel`, and what the files call them; * is
            the number of a layer.
        ignored: patterns of stored tensors that the model does not need.
        older: parts of names in the files of this family, and what the library calls them since.
        mixers: names for mixers of a kind, where layers of several kinds differ in them.
        by_fields: makes more names of the fields of a config.json, where weights are multiplied by
            what these say.
    """

    read: Callable[[Options], ModelSpec]
    names: Names
    ignored: tuple[str, ...] = ("*.rotary_emb.inv_freq",)
    older: Mapping[str, str] = field(default_factory=dict)
    mixers: Mapping[type, Names] = field(default_factory=dict)
    by_fields: Callable[[Options], Names] | None = None

    def described(self, options: Options) -> Family:
        """Return the family with the names that depend on the fields of a config.json."""
        if self.by_fields is None:
            return self
        return replace(self, names={**self.names, **self.by_fields(options)})

    def head(self, spec: ModelSpec) -> Made:
        """Return where the vectors come from that score the next token."""
        return self.source("output.weight", spec)

    def untied(self, spec: ModelSpec, tensors: Tensors) -> ModelSpec:
        """Return a specification that keeps a stored head which differs from the embedding."""
        stored = _Joined(tensors, self.older)
        (head,) = self.head(spec).names
        (words,) = self.source("embedding.weight", spec).names
        if not spec.tied or head not in stored or words not in stored:
            return spec
        return replace(spec, tied=torch.equal(stored[head], stored[words]))

    def source(self, own: str, spec: ModelSpec) -> Made:
        """Return where a weight of the package comes from."""
        number, names = _number(own), self.names
        if number is not None:
            mixer = spec.layers[int(number)].mixer
            names = {**names, **self.mixers.get(type(mixer), {})}
        general = re.sub(r"(?<=layers\.)\d+", "*", own, count=1)
        module, _, kind = general.rpartition(".")
        if general in names:
            found, ending = names[general], ""
        elif module in names:
            found, ending = names[module], f".{kind}"
        else:
            raise ValueError(f"names: no stored name is known for {own}")
        made = found if isinstance(found, Made) else Made(found, as_it_is)
        return made.at(number or "*", ending)


def within(prefix: str, names: Names) -> Names:
    """Return names of a text model whose weights lie under a prefix, but for the scores."""

    def moved(name: str) -> str:
        return name.replace("model.", prefix, 1)

    return {
        own: Made(tuple(map(moved, stored.names)), stored.make)
        if isinstance(stored, Made)
        else moved(stored)
        for own, stored in names.items()
    }


def copy_weights(
    model: DecoderModel, family: Family, tensors: Tensors
) -> None:
    """Take over all weights of a model by their names.

    Args:
        model: takes the weights; its parameters are written.
        family: what they are called.
        tensors: the stored tensors.

    Raises:
        ValueError: tensors that are missing, unknown or of another shape; the message lists them.
    """
    stored, faults = _Joined(tensors, family.older), []
    for own, weight in _weights(model):
        source = family.source(own, model.spec)
        missing = [name for name in source.names if name not in stored]
        if missing:
            faults += [f"{name} is missing" for name in missing]
            continue
        rows = [stored[name] for name in source.names]
        value = rows[0] if len(rows) == 1 else torch.cat(rows)
        if source.make is not as_it_is:
            number = _number(own)
            assert number is not None  # only weights of layers are made
            value = source.make(value, model.spec.layers[int(number)])
        if value.dtype.itemsize < 2 and weight.is_floating_point():
            names = " and ".join(source.names)
            faults.append(f"{names} is {value.dtype}, wanted 16 bits or more")
            continue
        if value.shape != weight.shape:
            name, wanted = " and ".join(source.names), tuple(weight.shape)
            faults.append(f"{name} is {tuple(value.shape)}, wanted {wanted}")
            continue
        with torch.no_grad():
            weight.copy_(value)
    faults += [
        f"{name} is unknown"
        for name in sorted(stored.keys() - stored.used)
        if not any(fnmatchcase(name, pattern) for pattern in family.ignored)
        and not (model.spec.tied and name in family.head(model.spec).names)
    ]
    if faults:
        raise ValueError(f"tensors: {'; '.join(faults)}")


_EXPERTS = re.compile(r"(.*\.experts)\.(gate_up_proj|up_proj|down_proj)")


class _Joined(Mapping[str, Tensor]):
    """Stored tensors, with experts or convolutions that lie side by side seen as one tensor."""

    def __init__(self, tensors: Tensors, older: Mapping[str, str]) -> None:
        self.tensors = tensors
        self.names = {}
        for name in tensors:
            since = name
            for part, new in older.items():
                since = since.replace(part, new)
            self.names[since] = name
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> Tensor:
        if name in self.names:
            self.used.add(name)
            return self.tensors[self.names[name]]
        if halves := self._halves(name):
            return torch.cat([self[half] for half in halves], 1)
        rows = self._parts(name)
        made = [torch.cat([self[part] for part in row]) for row in rows]
        return torch.stack(made) if _EXPERTS.fullmatch(name) else made[0]

    def __contains__(self, name: object) -> bool:
        if name in self.names or self._halves(str(name)):
            return True
        parts = [part for row in self._parts(str(name)) for part in row]
        return bool(parts) and all(part in self.names for part in parts)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def _halves(self, name: str) -> list[str]:
        """Return the names of the two tensors of all experts that a third is made of."""
        if not name.endswith("experts.gate_up_proj"):
            return []
        before = name.removesuffix("gate_up_proj")
        halves = [f"{before}gate_proj", f"{before}up_proj"]
        return halves if all(half in self.names for half in halves) else []

    def _parts(self, name: str) -> list[list[str]]:
        """Return the names of what a tensor is made of: expert by expert, or in one row."""
        match = _EXPERTS.fullmatch(name)
        if match is None:
            before, convolution, _ = name.rpartition(".conv1d.weight")
            row = [f"{before}.{kind}_conv1d.weight" for kind in "qkv"]
            return [row] if convolution else []
        block, kind = match.groups()
        both = kind == "gate_up_proj"
        parts = ["gate_proj", "up_proj"] if both else [kind]
        pattern = re.escape(block) + r"\.(\d+)\.down_proj\.weight"
        found = [re.fullmatch(pattern, key) for key in self.names]
        experts = sorted(int(one[1]) for one in found if one)
        return [
            [f"{block}.{expert}.{part}.weight" for part in parts]
            for expert in experts
        ]


def _weights(model: DecoderModel) -> Iterator[tuple[str, Tensor]]:
    """Return all that is stored, tied weights once."""
    for own, weight in model.state_dict(keep_vars=True).items():
        if not (model.spec.tied and own == "output.weight"):
            yield own, weight


def _number(own: str) -> str | None:
    """Return the number of the layer of a weight."""
    number = re.search(r"(?<=layers\.)\d+", own)
    return None if number is None else number[0]


def as_it_is(stored: Tensor, _: LayerSpec) -> Tensor:
    """Return what is stored."""
    return stored
