"""The training loop: its schedule, and that no interruption changes where it ends."""

import math
import os
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from companion.models.transformer import LanguageModel, TransformerConfig
from companion.training import TrainingConfig, train

CONFIG = TrainingConfig(steps=60, learning_rate=1e-2, warmup_steps=7, weight_decay=0.1, seed=3)


class Numbers:
    """Regression data: the batch of a step is a function of the step."""

    def __getitem__(self, step: int) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(step)
        x = torch.randn(11, 5, generator=generator)
        return x, x[:, :1] - x[:, 1:2]


def make_model(width: int = 13) -> nn.Module:
    torch.manual_seed(17)
    return nn.Sequential(nn.Linear(5, width), nn.Tanh(), nn.Dropout(0.3), nn.Linear(width, 1))


def squared_error(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    x, y = batch
    error: Tensor = model(x) - y
    return error.square().mean()


def same_weights(first: nn.Module, second: nn.Module) -> bool:
    mine, other = first.state_dict(), second.state_dict()
    return all(torch.equal(mine[name], other[name]) for name in mine)


class InterruptError(Exception):
    """Stands for an interruption."""


def interrupted_at(step: int) -> Numbers:
    class Breaking(Numbers):
        def __getitem__(self, asked: int) -> tuple[Tensor, Tensor]:
            if asked == step:
                raise InterruptError
            return super().__getitem__(asked)

    return Breaking()


def test_updates_equal_a_loop_written_out() -> None:
    model, twin = make_model(), make_model()
    losses = train(model, Numbers(), squared_error, CONFIG)
    torch.manual_seed(CONFIG.seed)
    optimizer = torch.optim.AdamW(twin.parameters(), lr=1.0, weight_decay=CONFIG.weight_decay)
    for step in range(CONFIG.steps):
        if step < 7:
            rate = 1e-2 * (step + 1) / 7
        else:
            rate = 1e-2 * (1 + torch.cos(torch.tensor(torch.pi * (step - 7) / 53)).item()) / 2
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        loss = squared_error(twin, Numbers()[step])
        loss.backward()  # type: ignore[no-untyped-call]
        total = sum(p.grad.square().sum() for p in twin.parameters() if p.grad is not None) ** 0.5
        for parameter in twin.parameters():
            assert parameter.grad is not None
            parameter.grad *= min(1.0, 1.0 / (float(total) + 1e-6))
        optimizer.step()
        assert loss.item() == pytest.approx(losses[step], rel=1e-4)
    for mine, other in zip(model.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("step", [1, 37, 59])
def test_resumed_training_ends_with_the_same_bits(tmp_path: Path, step: int) -> None:
    whole, part = make_model(), make_model()
    expected = train(whole, Numbers(), squared_error, CONFIG)
    file = tmp_path / "run.safetensors"
    with pytest.raises(InterruptError):
        train(
            part, interrupted_at(step), squared_error, CONFIG, checkpoint=file, checkpoint_every=4
        )
    torch.manual_seed(999)
    resumed = make_model()
    losses = train(resumed, Numbers(), squared_error, CONFIG, checkpoint=file, checkpoint_every=4)
    assert losses == expected
    assert same_weights(whole, resumed)


CHILD = """
import sys
from pathlib import Path
from typing import Any
import torch
torch.set_num_threads(1)
sys.path.insert(0, sys.argv[2])
from test_training import CONFIG, Numbers, make_model, squared_error
from companion.training import train
from dataclasses import replace
class Slow(Numbers):
    def __getitem__(self, step):
        print(step, flush=True)
        return super().__getitem__(step)
model = make_model(width=20_011)
train(model, Slow(), squared_error, CONFIG, checkpoint=sys.argv[1], checkpoint_every=1)
"""


@pytest.mark.slow
@pytest.mark.parametrize("trial", range(2))
def test_a_kill_at_a_random_moment_loses_nothing(tmp_path: Path, trial: int) -> None:
    """The child writes a checkpoint every update, so that many kills fall into a writing."""
    file = tmp_path / "run.safetensors"
    command = [sys.executable, "-c", CHILD, str(file), str(Path(__file__).parent)]
    wait = random.Random(trial)
    kills = 0
    for _ in range(40):
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        child.stdout.readline()
        try:
            child.wait(wait.uniform(0.0, 0.25 * (1 + kills / 5)))  # slow machines get time
            break
        except subprocess.TimeoutExpired:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
            kills += 1
    else:
        pytest.fail("the training made no progress between kills")
    assert kills > 0
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        whole, resumed = make_model(20_011), make_model(20_011)
        expected = train(whole, Numbers(), squared_error, CONFIG)
        losses = train(resumed, interrupted_at(0), squared_error, CONFIG, checkpoint=file)
    finally:
        torch.set_num_threads(threads)
    assert losses == expected
    assert same_weights(whole, resumed)


def test_a_half_written_file_beside_the_checkpoint_is_ignored(tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"
    with pytest.raises(InterruptError):
        train(
            make_model(), interrupted_at(9), squared_error, CONFIG, checkpoint=file,
            checkpoint_every=4,
        )  # fmt: skip
    (tmp_path / "run.safetensors.partial").write_bytes(file.read_bytes()[:100])
    whole, resumed = make_model(), make_model()
    assert train(resumed, Numbers(), squared_error, CONFIG, checkpoint=file) == train(
        whole, Numbers(), squared_error, CONFIG
    )
    assert same_weights(whole, resumed)


def test_another_configuration_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"
    train(make_model(), Numbers(), squared_error, CONFIG, checkpoint=file)
    with pytest.raises(ValueError, match=r"steps=60.*wanted steps=61"):
        train(make_model(), Numbers(), squared_error, replace(CONFIG, steps=61), checkpoint=file)


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    for content in ["garbage", "empty", "other tensors", "truncated"]:
        file = tmp_path / "run.safetensors"
        file.unlink(missing_ok=True)
        if content == "other tensors":
            save_file({"weight": torch.ones(2)}, file)
        elif content == "truncated":
            train(make_model(), Numbers(), squared_error, CONFIG, checkpoint=file)
            file.write_bytes(file.read_bytes()[:-50])
        else:
            file.write_bytes(b"" if content == "empty" else b"\x80\x04not a checkpoint")
        with pytest.raises(ValueError, match=r"run\.safetensors is not a checkpoint"):
            train(make_model(), Numbers(), squared_error, CONFIG, checkpoint=file)


def test_a_loss_that_is_not_finite_names_its_step() -> None:
    def broken(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        return squared_error(model, batch) / (
            0.0 if batch[0][0, 0] == Numbers()[5][0][0, 0] else 1.0
        )

    with pytest.raises(FloatingPointError, match="step 5 is inf"):
        train(make_model(), Numbers(), broken, CONFIG)

    def steep(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        return squared_error(model, batch) + sum(
            (0 * weight).sum().sqrt() for weight in model.parameters()
        )

    model = make_model()
    with pytest.raises(FloatingPointError, match="the gradient of step 0 is nan"):
        train(model, Numbers(), steep, CONFIG)
    assert all(weight.isfinite().all() for weight in model.parameters())


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="weight_decay: got nan"):
        replace(CONFIG, weight_decay=math.nan)


def test_a_checkpoint_that_could_not_be_written_is_refused_at_once(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere" / "run.safetensors"):
        with pytest.raises(ValueError, match=r"checkpoint: got .*, wanted a file in a folder"):
            train(make_model(), interrupted_at(0), squared_error, CONFIG, checkpoint=path)


def test_weights_of_the_same_shapes_do_not_make_the_same_model(tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"
    train(make_model(), Numbers(), squared_error, CONFIG, checkpoint=file)
    other = make_model()
    other[1] = nn.ReLU()  # type: ignore[operator]
    with pytest.raises(ValueError, match=r"another model; 1 was Tanh\(\), wanted ReLU\(\)"):
        train(other, Numbers(), squared_error, CONFIG, checkpoint=file)
    with pytest.raises(ValueError, match=r"another model; 0\.bias, .* differ"):
        train(make_model().double(), Numbers(), squared_error, CONFIG, checkpoint=file)


def test_a_configuration_of_the_model_is_part_of_it(tmp_path: Path) -> None:
    file, config = tmp_path / "run.safetensors", TransformerConfig(vocab_size=7, num_layers=1)
    settings, ids = TrainingConfig(steps=1), torch.tensor([[4, 5, 6]])

    class Always:
        def __getitem__(self, step: int) -> Tensor:
            return ids

    train(LanguageModel(config), Always(), LanguageModel.loss, settings, checkpoint=file)
    train(LanguageModel(config), Always(), LanguageModel.loss, settings, checkpoint=file)
    other = LanguageModel(replace(config, positions="none"))
    with pytest.raises(ValueError, match=r"another model; the model was .*sinusoidal.*, wanted"):
        train(other, Always(), LanguageModel.loss, settings, checkpoint=file)


def test_a_checkpoint_that_does_not_name_its_model_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"
    train(make_model(), Numbers(), squared_error, CONFIG, checkpoint=file)
    with safe_open(file, framework="pt") as opened:
        said = opened.metadata()
    save_file(load_file(file), file, metadata={"config": said["config"]})
    with pytest.raises(ValueError, match="does not say of what model it is"):
        train(make_model(), Numbers(), squared_error, CONFIG, checkpoint=file)
