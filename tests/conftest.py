"""Fixtures that the tests share."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest


@pytest.fixture(params=["numpy", "torch", "array_api_strict"])
def xp(request: pytest.FixtureRequest) -> Any:
    """The namespace of one array library; torch is imported only by the tests that ask for it."""
    if request.param == "torch":
        pytest.importorskip("torch")
        return pytest.importorskip("array_api_compat.torch")
    return pytest.importorskip(request.param)


@pytest.fixture
def torch() -> ModuleType:
    """Torch, imported only by the tests that ask for it."""
    module: ModuleType = pytest.importorskip("torch")
    return module
