"""What an exhibit is: a broken variant, a sound one, and the check that tells them apart."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from companion.attention import scaled_dot_product_attention

Variant = Callable[..., Any]
_THREADS = re.compile(r"[\w.-]+/[\w.-]+( #\d+)+")


@dataclass(frozen=True)
class Exhibit:
    """A mistake that raises no error, beside what is right.

    Raises:
        ValueError: a thread of another form.

    >>> from bookkit.museum import EXHIBITS
    >>> exhibit = EXHIBITS["upside down"]
    >>> exhibit.verdict(exhibit.broken)
    'outputs depend on later positions and on no earlier one: the mask is upside down'
    >>> exhibit.verdict(exhibit.sound)
    ''
    """

    name: str  # one or two words, as a key
    title: str  # what the mistake does
    broken: Variant  # the wrong variant
    sound: Variant  # the same by the package
    # Takes a variant; raises an AssertionError on the broken one, passes on the sound one
    check: Callable[[Variant], None]
    hint: str  # words of that error's message
    # Public threads about it, a repository each: "owner/repository #number #number"
    threads: tuple[str, ...]

    def __post_init__(self) -> None:
        for one in self.threads:
            if not _THREADS.fullmatch(one):
                wanted = "'owner/repository #number'"
                raise ValueError(f"threads: got {one!r}, wanted {wanted}")

    def verdict(self, variant: Variant) -> str:
        """Return what the check says to a variant; nothing, if it passes."""
        try:
            self.check(variant)
        except AssertionError as error:
            return str(error)
        return ""


def normal_numbers(*shape: int, seed: int = 0) -> Tensor:
    """Return normal numbers, the same at every call."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def two_inputs(b: int = 2, n: int = 6, e: int = 8) -> tuple[Tensor, Tensor]:
    """Return two batches of features (b, n, e), different at every position."""
    return normal_numbers(b, n, e, seed=1), normal_numbers(b, n, e, seed=2)


def two_texts(b: int = 2, n: int = 7) -> tuple[Tensor, Tensor]:
    """Return two batches of ids (b, n), different at every position."""
    draw = torch.Generator().manual_seed(3)
    ids = torch.randint(0, 11, (b, n), generator=draw)
    return ids, (ids + torch.randint(1, 11, (b, n), generator=draw)) % 11


def attend_causally(x: Tensor) -> Tensor:
    """Attend causally, (b, n, e) to itself, without a cache."""
    return scaled_dot_product_attention(x, x, x, is_causal=True)


def seeded(make: Callable[[], Any]) -> Any:
    """Make a layer with weights that are the same at every call, in float64, without dropout."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        return make().double().eval()
