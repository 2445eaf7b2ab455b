"""Fixtures that the tests share."""

from types import ModuleType
from typing import Any

import pytest

collect_ignore = ["mutation.py"]  # a command, which needs more than the tests do


@pytest.fixture(scope="session")
def libraries() -> list[Any]:
    """The namespaces of array libraries; torch is imported only by the tests that ask for it."""
    names = ("numpy", "array_api_compat.torch", "array_api_strict")
    return [pytest.importorskip(name) for name in names]


@pytest.fixture
def torch() -> ModuleType:
    """Torch, imported only by the tests that ask for it."""
    module: ModuleType = pytest.importorskip("torch")
    return module
