"""The fields of a config.json of Hugging Face's library, read with errors that name them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from companion.layers.feed_forward import Activation

ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    "relu2": "relu_squared",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "silu": "silu",
    "swish": "silu",
}
"""What the library calls the activations that do not learn."""


class Options(dict[str, Any]):
    """The fields of a config.json; asking for one that is missing is an error that names it.

    Args:
        described: the fields and their values.
        path: what errors call the file.
    """

    def __init__(self, described: dict[str, Any], path: Path | str) -> None:
        super().__init__(described)
        self.path = path

    def __missing__(self, name: str) -> Any:
        raise ValueError(f"folder: {self.path} has no {name}")

    def flag(self, name: str, default: bool) -> bool:
        """Return an option that is true or false: the text "false" would count as true."""
        value = self.get(name, default)
        if not isinstance(value, bool):
            raise TypeError(
                f"{name}: {self.path} has {value!r}, wanted true or false"
            )
        return value

    def require(self, **wanted: bool | str) -> None:
        """Refuse options with another value than the only one that the models here have."""
        for name, value in wanted.items():
            given = (
                self.flag(name, value)
                if isinstance(value, bool)
                else self.get(name, value)
            )
            if given != value:
                raise ValueError(
                    f"{name}: {self.path} has {given!r}, wanted {value!r}"
                )

    def one_of(self, name: str, known: Mapping[str, Any]) -> Any:
        """Return what the package calls the value of an option."""
        if str(self[name]) not in known:
            raise ValueError(
                f"{name}: {self.path} has {self[name]!r}, wanted one of {', '.join(known)}"
            )
        return known[str(self[name])]

    def activation(self, name: str) -> Activation:
        """Return what the package calls an activation that does not learn."""
        activation: Activation = self.one_of(name, ACTIVATIONS)
        return activation
