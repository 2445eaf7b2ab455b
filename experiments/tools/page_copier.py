"""Train the small copier that a reader's browser runs, and store it in eight bits a weight.

`python -m experiments.tools.page_copier` trains two layers of one head each on blocks of different
letters, in half a minute on one thread. Every stored weight lies within half a step of the trained
one, which the script checks.
"""

import base64
import json
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Generator, Tensor

from bookkit.playables.copying import FILE, restored
from experiments.engine.record import processor, replace_file, versions
from experiments.induction.study import Setting, Task, fit, percent, right

SEED = 1
LEVELS = 127


@dataclass(frozen=True)
class Letters(Task):
    """Blocks in which no letter stands twice."""

    symbols: int = 26
    length: int = 24
    shortest: int = 4
    longest: int = 11

    def draw(self, generator: Generator, size: int) -> tuple[Tensor, Tensor]:
        """Draw sequences (b, n) and the lengths of their blocks (b,)."""
        lengths = torch.randint(self.shortest, self.longest + 1, (size,), generator=generator)
        order = torch.rand(size, self.symbols, generator=generator).argsort(1)
        positions = torch.arange(self.length) % lengths[:, None]
        return order[:, : self.longest].take_along_dim(positions, 1), lengths


SETTING = Setting(2, 1000, 8e-3, every=500, width=32, num_heads=1)


def stored(weight: Tensor) -> dict[str, Any]:
    """Return a weight as JSON: a matrix in whole numbers and a scale a row, a vector as it is."""
    if weight.ndim == 1:
        return {"values": [float(f"{value:.7g}") for value in weight.tolist()]}
    scale = weight.abs().amax(1).double() / LEVELS
    levels = (weight.double() / scale[:, None]).round().to(torch.int8)
    return {
        "shape": list(weight.shape),
        "base64": base64.b64encode(levels.numpy().tobytes()).decode("ascii"),
        "scale": scale.tolist(),
    }


def main() -> None:
    """Train, check and write."""
    torch.set_num_threads(1)
    task = Letters()
    model, _ = fit(SETTING, task, SEED)
    kept = {n: w.detach() for n, w in model.named_parameters() if ".feed_forward" not in n}
    weights = {name: stored(weight) for name, weight in kept.items()}
    for name, weight in kept.items():
        if weight.ndim == 2:
            step = torch.tensor(weights[name]["scale"])[:, None]
            assert ((restored(weights[name]) - weight).abs() <= step / 2 + 1e-7).all()
    about = {
        "task": asdict(task), "setting": asdict(SETTING), "seed": SEED,
        "right": round(percent(right(model, *task.test())), 2), "processor": processor(),
        "versions": versions(),
    }  # fmt: skip
    said = json.dumps({"about": about, "weights": weights}, separators=(",", ":"))
    replace_file(said + "\n", FILE)


if __name__ == "__main__":
    main()
