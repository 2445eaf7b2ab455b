"""Tensors in safetensors files, read one by one: all together would need their size twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import Tensor


class Stored(Mapping[str, Tensor]):
    """The tensors of some files, by their names; each is read when it is asked for.

    A file is opened anew for every tensor: its pages are let go with the tensor.

    Args:
        files: safetensors files; of two tensors of one name, the one in the later file counts.
        rename: gives the name under which a tensor is known; None means its own.

    Attributes:
        shapes: of the tensors, by their names.
        dtypes: the same, in the words of safetensors: F32, BF16, I8.

    Raises:
        FileNotFoundError: no such file.
        ValueError: no safetensors file.
    """

    def __init__(self, files: Iterable[Path], rename: Callable[[str], str] | None = None) -> None:
        self._place_of: dict[str, tuple[Path, str]] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.dtypes: dict[str, str] = {}
        for path in files:
            check_weights_file(path)
            try:
                with safe_open(path, framework="pt") as file:
                    for stored in file.keys():  # noqa: SIM118
                        part = file.get_slice(stored)
                        name = stored if rename is None else rename(stored)
                        self._place_of[name] = path, stored
                        self.shapes[name] = tuple(part.get_shape())
                        self.dtypes[name] = part.get_dtype()
            except SafetensorError as error:
                raise ValueError(f"folder: {path} is no safetensors file: {error}") from error

    def __getitem__(self, name: str) -> Tensor:
        """Read a tensor; it may be a view of its file."""
        path, stored = self._place_of[name]
        with safe_open(path, framework="pt") as file:
            found: Tensor = file.get_tensor(stored)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._place_of  # what a mapping inherits would read the tensor

    def __iter__(self) -> Iterator[str]:
        return iter(self._place_of)

    def __len__(self) -> int:
        return len(self._place_of)


def check_weights_file(path: Path) -> None:
    """Refuse a file that is not there, and say what to do if its folder has the older format.

    Raises:
        FileNotFoundError: no such file.
    """
    if path.is_file():
        return
    if pickled := sorted(other.name for other in path.parent.glob("pytorch_model*.bin")):
        raise FileNotFoundError(
            f"folder: {path.parent} holds {', '.join(pickled)}, wanted {path.name}: only "
            f"safetensors are read, for a pickled file may run any code. Hugging Face's library "
            f"converts: model = ...from_pretrained(folder) of the class that config.json names, "
            f"then model.save_pretrained(folder)"
        )
    raise FileNotFoundError(f"folder: found no {path}; only local folders are read")
