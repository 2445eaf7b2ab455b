"""What a family of models is: how its config.json is read, and what its weights are called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import NamedTuple

import torch
from torch import Tensor

from companion.models.atlas.model import DecoderModel
from companion.models.atlas.specs import LayerSpec, ModelSpec
from companion.models.options import Options

Tensors = Mapping[str, Tensor]


class Made(NamedTuple):
    """A weight that is made of one stored under another form.

    Attributes:
        name: the stored tensor; * is the number of the layer.
        make: from the stored tensor and the layer's specification to the weight.
    """

    name: str
    make: Callable[[Tensor, LayerSpec], Tensor]


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
    """

    read: Callable[[Options], ModelSpec]
    names: Names
    ignored: tuple[str, ...] = ("*.rotary_emb.inv_freq",)
    older: Mapping[str, str] = field(default_factory=dict)

    def source(self, own: str) -> str | Made:
        """Return where a weight of the package comes from."""
        number = re.search(r"(?<=layers\.)\d+", own)
        general = re.sub(r"(?<=layers\.)\d+", "*", own, count=1)
        module, _, kind = general.rpartition(".")
        if general in self.names:
            found, ending = self.names[general], ""
        elif module in self.names:
            found, ending = self.names[module], f".{kind}"
        else:
            raise ValueError(f"names: no stored name is known for {own}")
        made = found if isinstance(found, Made) else Made(found, _as_it_is)
        name = made.name.replace("*", number[0] if number else "*", 1) + ending
        return name if made.make is _as_it_is else made._replace(name=name)


def inside(name: str, read: Callable[[Options], ModelSpec]) -> Callable[[Options], ModelSpec]:
    """Return a reader of the text model whose fields lie under a name, beside an image model's."""
    return lambda options: read(Options(options[name], f"{name} of {options.path}"))


def within(prefix: str, names: Names) -> Names:
    """Return names of a text model whose weights lie under a prefix, but for the scores."""
    return {own: _under(prefix, stored) for own, stored in names.items()}


def _under(prefix: str, stored: str | Made) -> str | Made:
    if isinstance(stored, Made):
        return stored._replace(name=stored.name.replace("model.", prefix, 1))
    return stored.replace("model.", prefix, 1)


def copy_weights(model: DecoderModel, family: Family, tensors: Tensors) -> None:
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
        source = family.source(own)
        name = source if isinstance(source, str) else source.name
        if name not in stored:
            faults.append(f"{name} is missing")
            continue
        value = stored[name]
        if isinstance(source, Made):
            value = source.make(value, _layer_of(own, model.spec))
        if value.shape != weight.shape:
            faults.append(f"{name} is {tuple(value.shape)}, wanted {tuple(weight.shape)}")
            continue
        with torch.no_grad():
            weight.copy_(value)
    faults += [
        f"{name} is unknown"
        for name in sorted(stored.keys() - stored.used)
        if not any(fnmatchcase(name, pattern) for pattern in family.ignored)
        and not (model.spec.tied and name == "lm_head.weight")
    ]
    if faults:
        raise ValueError(f"tensors: {'; '.join(faults)}")


class _Joined(Mapping[str, Tensor]):
    """Stored tensors, with experts that lie side by side seen as one tensor."""

    def __init__(self, tensors: Tensors, older: Mapping[str, str]) -> None:
        self.tensors = tensors
        self.names = {_library_name(name, older): name for name in tensors}
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> Tensor:
        if name in self.names:
            self.used.add(name)
            return self.tensors[self.names[name]]
        if halves := self._halves(name):
            return torch.cat([self[half] for half in halves], 1)
        rows = self._parts(name)
        self.used.update(part for row in rows for part in row)
        parts = [[self.tensors[self.names[part]] for part in row] for row in rows]
        return torch.stack([torch.cat(row) for row in parts])

    def __contains__(self, name: object) -> bool:
        if name in self.names or self._halves(str(name)):
            return True
        rows = self._parts(str(name))
        return bool(rows) and all(part in self.names for row in rows for part in row)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def _halves(self, name: str) -> list[str]:
        """Return the names of the two tensors of all experts that a third is made of."""
        if not name.endswith("experts.gate_up_proj"):
            return []
        halves = [name.replace("gate_up_proj", half) for half in ("gate_proj", "up_proj")]
        return halves if all(half in self.names for half in halves) else []

    def _parts(self, name: str) -> list[list[str]]:
        """Return, expert by expert, the names of what a tensor of all experts is made of."""
        match = re.fullmatch(r"(.*\.experts)\.(gate_up_proj|down_proj)", name)
        if match is None:
            return []
        parts = ["gate_proj", "up_proj"] if match[2] == "gate_up_proj" else ["down_proj"]
        pattern = re.compile(re.escape(match[1]) + r"\.(\d+)\.down_proj\.weight")
        experts = sorted(int(found[1]) for key in self.names if (found := pattern.fullmatch(key)))
        return [[f"{match[1]}.{expert}.{part}.weight" for part in parts] for expert in experts]


def _weights(model: DecoderModel) -> Iterator[tuple[str, Tensor]]:
    """Return all that is stored, tied weights once."""
    for own, weight in model.state_dict(keep_vars=True).items():
        if not (model.spec.tied and own == "output.weight"):
            yield own, weight


def _layer_of(own: str, spec: ModelSpec) -> LayerSpec:
    number = re.search(r"(?<=layers\.)\d+", own)
    assert number is not None  # only weights of layers are made of others
    return spec.layers[int(number[0])]


def _library_name(name: str, older: Mapping[str, str]) -> str:
    for part, since in older.items():
        name = name.replace(part, since)
    return name


def _as_it_is(stored: Tensor, _: LayerSpec) -> Tensor:
    return stored
