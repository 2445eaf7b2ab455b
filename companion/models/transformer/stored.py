"""Tensors in safetensors files, read one at a time: all at once would need twice the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import Tensor


class Stored(Mapping[str, Tensor]):
    """The tensors of some files by their names; each is read when it is asked for.

    A file is opened again for every tensor, so that its memory is freed with the tensor.

    Args:
        files: safetensors files; of two tensors with one name, the one in the later file counts.
        rename: gives the name under which a tensor is known, by default its own; "" leaves it out.

    Attributes:
        shapes: of the tensors, by their names.
        dtypes: of the tensors, by their names, as safetensors writes them: F32, BF16, I8.

    Raises:
        FileNotFoundError: no such file.
        ValueError: no safetensors file.
    """

    def __init__(
        self, files: Iterable[Path], rename: Callable[[str], str] = str
    ) -> None:
        # The file of a tensor, and its name there.
        self._source: dict[str, tuple[Path, str]] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.dtypes: dict[str, str] = {}
        for path in files:
            check_weights_file(path)
            try:
                with safe_open(path, framework="pt") as file:
                    for stored in file.keys():  # noqa: SIM118
                        part, name = file.get_slice(stored), rename(stored)
                        if not name:
                            continue
                        self._source[name] = path, stored
                        self.shapes[name] = tuple(part.get_shape())
                        self.dtypes[name] = part.get_dtype()
            except SafetensorError as error:
                raise ValueError(
                    f"folder: {path} is no safetensors file: {error}"
                ) from error

    def __getitem__(self, name: str) -> Tensor:
        """Read a tensor; it may be a view of its file."""
        path, stored = self._source[name]
        with safe_open(path, framework="pt") as file:
            tensor: Tensor = file.get_tensor(stored)
        return tensor

    def __contains__(self, name: object) -> bool:
        # The inherited method would read the tensor.
        return name in self._source

    def __iter__(self) -> Iterator[str]:
        return iter(self._source)

    def __len__(self) -> int:
        return len(self._source)


def check_weights_file(path: Path) -> None:
    """Refuse a file that is not there, and say what to do if its folder has the older format.

    Raises:
        FileNotFoundError: no such file.
    """
    if path.is_file():
        return
    others = path.parent.glob("pytorch_model*.bin")
    if pickled := sorted(other.name for other in others):
        raise FileNotFoundError(
            f"folder: {path.parent} holds {', '.join(pickled)}, wanted {path.name}: only "
            f"safetensors are read, for a pickled file may run any code. Hugging Face's library "
            f"converts: model = ...from_pretrained(folder) of the class that config.json names, "
            f"then model.save_pretrained(folder)"
        )
    raise FileNotFoundError(
        f"folder: got no file {path}; only local folders are read"
    )
