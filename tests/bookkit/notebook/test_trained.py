from pathlib import Path

import pytest
import torch
from torch import nn

from bookkit.notebook import trained
from bookkit.notebook.trained import FOLDER, STORE


def made() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(5, 7), nn.Dropout(0.5), nn.Linear(7, 2)).train()


def halved(model: nn.Module) -> list[float]:
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(0.5)
    return [2.5, 1.25]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(STORE, raising=False)
    monkeypatch.delenv("BOOK_SEED_SHIFT", raising=False)


def test_what_is_stored_is_what_the_page_goes_on_with_and_what_it_reads_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, later = made(), made()
    with monkeypatch.context() as patch:
        patch.setenv(STORE, "1")
        assert trained("one", first, lambda: halved(first), folder=tmp_path) == [2.5, 1.25]
    for weight in later.parameters():
        nn.init.zeros_(weight)
    assert trained("one", later, pytest.fail, folder=tmp_path) == [2.5, 1.25]
    assert not later.training
    assert not first.training
    for old, new in zip(first.parameters(), later.parameters(), strict=True):
        assert torch.equal(old, new)
    torch.testing.assert_close(later[0].weight, made()[0].weight / 2, rtol=1e-3, atol=1e-3)  # type: ignore[index]


@pytest.mark.parametrize(("anew", "shift"), [(True, "0"), (False, "1")])
def test_a_reader_and_a_shifted_seed_train_and_store_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anew: bool, shift: str
) -> None:
    monkeypatch.setenv(STORE, "1")
    monkeypatch.setenv("BOOK_SEED_SHIFT", shift)
    model = made()
    assert trained("one", model, lambda: halved(model), anew=anew, folder=tmp_path) == [2.5, 1.25]
    assert torch.equal(model[0].weight, made()[0].weight / 2)  # type: ignore[index]
    assert not model.training
    assert list(tmp_path.iterdir()) == []


def test_the_weights_of_another_model_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = made()
    with monkeypatch.context() as patch:
        patch.setenv(STORE, "1")
        trained("one", model, lambda: halved(model), folder=tmp_path)
    with pytest.raises(ValueError, match=r"one\.safetensors holds .*; anew=True trains this one"):
        trained("one", nn.Linear(5, 3), pytest.fail, folder=tmp_path)


def test_stored_weights_are_small_and_finite() -> None:
    from safetensors.torch import load_file

    files = sorted(FOLDER.glob("*.safetensors"))
    assert files
    for path in files:
        assert path.stat().st_size < 1_000_000
        assert all(one.isfinite().all() for one in load_file(path).values())
