"""One training loop: warm-up, cosine, clipping, and a checkpoint from which it resumes exactly."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from tqdm import tqdm

from companion.contracts import contract

BatchT = TypeVar("BatchT")
BatchT_co = TypeVar("BatchT_co", covariant=True)


class Batches(Protocol[BatchT_co]):
    """Training data: the batch of a step depends on that step alone."""

    def __getitem__(self, step: int, /) -> BatchT_co:
        """Return the batch of `step`."""


@contract(
    steps=">= 1",
    learning_rate="> 0",
    warmup_steps=">= 0",
    clip_norm="> 0",
    weight_decay=">= 0",
)
@dataclass(frozen=True)
class TrainingConfig:
    """How to train.

    Attributes:
        steps: number of updates.
        learning_rate: the highest learning rate, reached after the warm-up.
        warmup_steps: updates over which the rate grows linearly; a cosine to 0 follows.
        clip_norm: the gradient's norm is cut to this; None cuts nothing.
        weight_decay: decoupled weight decay (Loshchilov and Hutter, 2019); 0 is Adam.
        seed: set before the first update; dropout follows from it.
    """

    steps: int
    learning_rate: float = 2e-3
    warmup_steps: int = 100
    clip_norm: float | None = 1.0
    weight_decay: float = 0.0
    seed: int = 0

    @contract(step=">= 0")
    def rate(self, step: int) -> float:
        """Return the learning rate of update `step`, counted from 0.

        >>> config = TrainingConfig(steps=200, learning_rate=1.0, warmup_steps=100)
        >>> [round(config.rate(step), 2) for step in (0, 49, 99, 149, 199)]
        [0.01, 0.5, 1.0, 0.52, 0.0]
        """
        if step < self.warmup_steps:
            return self.learning_rate * (step + 1) / self.warmup_steps
        progress = (step - self.warmup_steps) / max(
            1, self.steps - self.warmup_steps
        )
        return self.learning_rate * 0.5 * (1.0 + math.cos(math.pi * progress))


@contract(checkpoint_every=">= 1")
def train(
    model: nn.Module,
    batches: Batches[BatchT],
    loss_fn: Callable[[Any, BatchT], Tensor],
    config: TrainingConfig,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 100,
    progress: bool = True,
) -> list[float]:
    """Train a model in place with Adam and return the loss of every update.

    Args:
        model: what is trained; it is left in evaluation mode.
        batches: gives the batch of each step.
        loss_fn: takes the model and a batch, gives a scalar.
        config: how to train.
        checkpoint: a safetensors file. If it exists, training goes on from it and ends with the
            same weights, bit by bit, as if it had never stopped (same machine, versions and
            number of threads; random numbers from torch's CPU generator alone).
        checkpoint_every: updates between two writings of the checkpoint.
        progress: show a bar when the output is a terminal.

    Returns:
        The loss of each of the `config.steps` updates, those before an interruption included.

    Raises:
        ValueError: the checkpoint was written for another configuration or model, or is no such
            file, or its folder is not there.
        FloatingPointError: a loss or a gradient is not finite; the message names the step,
            whose update has not been made.
    """
    path = None if checkpoint is None else _file(checkpoint)
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=config.learning_rate,
        weight_decay=config.weight_decay,
    )
    torch.manual_seed(config.seed)
    losses: list[float] = []
    if path and path.exists():
        losses = _resume(path, model, optimizer, config)
    model.train()
    steps = range(len(losses), config.steps)
    for step in tqdm(
        steps,
        initial=len(losses),
        total=config.steps,
        disable=None if progress else True,
    ):
        losses.append(
            _update(model, batches[step], loss_fn, optimizer, config, step)
        )
        done = step + 1
        if path and (done % checkpoint_every == 0 or done == config.steps):
            _save(path, model, optimizer, config, losses)
    model.eval()
    return losses


def _update(
    model: nn.Module,
    batch: BatchT,
    loss_fn: Callable[[Any, BatchT], Tensor],
    optimizer: torch.optim.Optimizer,
    config: TrainingConfig,
    step: int,
) -> float:
    for group in optimizer.param_groups:
        group["lr"] = config.rate(step)
    optimizer.zero_grad(set_to_none=True)
    loss = loss_fn(model, batch)
    loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    norm = nn.utils.clip_grad_norm_(
        model.parameters(), config.clip_norm or math.inf
    )
    value = loss.item()
    for name, size in (("loss", value), ("gradient", norm.item())):
        if not math.isfinite(size):
            raise FloatingPointError(f"the {name} of step {step} is {size}")
    optimizer.step()
    return value


def _state(
    model: nn.Module, optimizer: torch.optim.Optimizer
) -> dict[str, Tensor]:
    """Name every tensor that decides how training goes on."""
    state = {
        f"model/{name}": tensor for name, tensor in model.state_dict().items()
    }
    for index, moments in optimizer.state_dict()["state"].items():
        state |= {
            f"optimizer/{index}/{name}": tensor
            for name, tensor in moments.items()
        }
    return state


def _save(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    config: TrainingConfig,
    losses: list[float],
) -> None:
    """Write beside the file, then rename: a kill at any moment leaves the old or the new one."""
    tensors = _state(model, optimizer)
    tensors["generator"] = torch.get_rng_state()
    tensors["losses"] = torch.tensor(losses, dtype=torch.float64)
    partial = path.with_name(path.name + ".partial")
    copies = {k: t.detach().clone().contiguous() for k, t in tensors.items()}
    metadata = {
        "config": json.dumps(asdict(config), sort_keys=True),
        "model": json.dumps(_parts(model)),
    }
    save_file(copies, partial, metadata)
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    partial.replace(path)


def _resume(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    config: TrainingConfig,
) -> list[float]:
    tensors, saved, parts = _read(path)
    wanted = asdict(config)
    differing = sorted(
        name for name in wanted if saved.get(name) != wanted[name]
    )
    if differing:
        came = ", ".join(f"{name}={saved.get(name)!r}" for name in differing)
        want = ", ".join(f"{name}={wanted[name]!r}" for name in differing)
        raise ValueError(
            f"checkpoint: {path} was written with {came}, wanted {want}"
        )
    _check_model(path, model, tensors, parts)
    model.load_state_dict(_weights(tensors))
    _load_optimizer(optimizer, tensors)
    torch.set_rng_state(tensors["generator"])
    return [float(loss) for loss in tensors["losses"]]


def _read(
    path: Path,
) -> tuple[dict[str, Tensor], dict[str, Any], dict[str, str] | None]:
    """Return tensors, configuration and the parts of the model; older files do not name those."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            config = json.loads(metadata["config"])
            parts = json.loads(metadata.get("model", "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return tensors, config, parts
    except (SafetensorError, KeyError, json.JSONDecodeError) as error:
        raise ValueError(
            f"checkpoint: {path} is not a checkpoint of this loop"
        ) from error


def _file(checkpoint: str | os.PathLike[str]) -> Path:
    """Refuse now what could not be written after many updates."""
    path = Path(checkpoint)
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError(
            f"checkpoint: got {path}, wanted a file in a folder that is there"
        )
    return path


def _parts(model: nn.Module) -> dict[str, str]:
    """Say what every part of a model is: weights of the same names may be of another model."""
    parts = {}
    for name, part in model.named_modules():
        config = getattr(part, "config", None)
        settings = repr(config) if is_dataclass(config) else part.extra_repr()
        parts[name] = f"{type(part).__qualname__}({settings})"
    return parts


def _weights(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return what a checkpoint holds of the model."""
    return {
        name.removeprefix("model/"): t
        for name, t in tensors.items()
        if name[:6] == "model/"
    }


def _check_model(
    path: Path,
    model: nn.Module,
    tensors: dict[str, Tensor],
    parts: dict[str, str] | None,
) -> None:
    """Refuse a checkpoint of another model, in its weights or in what it makes of them."""
    mine, saved = (
        {(name, tensor.shape, tensor.dtype) for name, tensor in x.items()}
        for x in (model.state_dict(), _weights(tensors))
    )
    wrong = sorted({name for name, *_ in mine ^ saved})
    if wrong:
        raise ValueError(
            f"checkpoint: {path} is of another model; {', '.join(wrong)} differ"
        )
    if parts is None:
        raise ValueError(
            f"checkpoint: {path} does not say of what model it is, wanted one that does"
        )
    now = _parts(model)
    for name in (*now, *parts):
        if now.get(name) != parts.get(name):
            raise ValueError(
                f"checkpoint: {path} is of another model; {name or 'the model'} "
                f"was {parts.get(name)}, wanted {now.get(name)}"
            )


def _load_optimizer(
    optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]
) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith("optimizer/"):
            _, index, moment = name.split("/")
            state.setdefault(int(index), {})[moment] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
