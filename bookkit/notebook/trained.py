"""Trained weights, stored, so that a page says the same on every processor.

Rounding errors grow from update to update: a model that another processor trains ends elsewhere,
and what a page draws and quotes of it would not be what its reader sees.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from bookkit.notebook.seed import page_seed

if TYPE_CHECKING:
    from torch import nn

FOLDER = Path(__file__).parents[1] / "trained"
STORE = "BOOK_TRAIN"
"""Set to 1 by `make trained`: every model is trained, and its weights are stored."""


def trained(
    name: str,
    model: nn.Module,
    training: Callable[[], Iterable[float]],
    *,
    anew: bool = False,
    folder: Path = FOLDER,
) -> list[float]:
    """Give a model the weights that its training ended with, and return the losses on the way.

    They are read from a file. Where there is none, or the seeds of the page are shifted, the model
    is trained.

    Args:
        name: of the file, without its suffix; pages may share one.
        model: what gets the weights, in place, and is left in evaluation mode.
        training: trains the model and returns the loss of every update.
        anew: train, and leave the file as it is.
        folder: where the file lies.
    """
    import torch
    from safetensors.torch import load_file, save

    path, live = folder / f"{name}.safetensors", anew or page_seed() != 0
    storing = os.environ.get(STORE) == "1" and not live
    if live or storing or not path.exists():
        with torch.random.fork_rng(devices=[]):  # later draws are the same, trained or not
            losses = list(training())
        if not storing:
            model.eval()
            return losses
        stored = {f"model.{key}": one.half() for key, one in model.state_dict().items()}
        folder.mkdir(exist_ok=True)
        path.write_bytes(save({**stored, "losses": torch.tensor(losses, dtype=torch.float32)}))
    tensors = load_file(path)
    losses = tensors.pop("losses").tolist()
    try:
        model.load_state_dict({key.removeprefix("model."): one for key, one in tensors.items()})
    except RuntimeError as error:
        raise ValueError(
            f"model: {path.name} holds the weights of another one; anew=True trains this one"
        ) from error
    model.eval()
    return losses
