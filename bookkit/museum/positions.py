"""Positions that run, and say something else."""

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bookkit.museum.exhibit import Exhibit, Variant, normal_numbers
from companion.conformance import check_agree, check_relative
from companion.positions import rotary_frequencies, rotate, sinusoidal_encoding

WIDTH = 16


def doubled_exponents(places: Any, width: int = WIDTH) -> Any:
    """Encode positions with i as the exponent asks for it, where i already counts features."""
    encoding = np.zeros((len(places), width))
    for i in range(0, width, 2):
        encoding[:, i] = np.sin(places / 10_000 ** (2 * i / width))
        encoding[:, i + 1] = np.cos(places / 10_000 ** (2 * (i + 1) / width))
    return encoding


def two_layouts(x: Tensor, places: Tensor) -> Tensor:
    """Turn halves against each other, by a table of angles that is made for neighbours."""
    angles = places[:, None] * rotary_frequencies(x.shape[-1], like=x)
    angles = angles.repeat_interleave(2, -1)
    first, second = x.chunk(2, -1)
    turned: Tensor = (
        x * angles.cos() + torch.cat((-second, first), -1) * angles.sin()
    )
    return turned


def check_rotation(rotation: Variant) -> None:
    """Check that products of rotated queries and keys depend on the distance."""
    query, key = normal_numbers(5, WIDTH), normal_numbers(5, WIDTH, seed=1)

    def turned(x: Tensor, places: Any) -> Any:
        return rotation(x, torch.as_tensor(places))

    check_relative(lambda q, k: turned(query, q) @ turned(key, k).mT)


def loaded_as_halves(x: Tensor, places: Tensor) -> Tensor:
    """Turn halves, though the weights were trained with neighbours."""
    turned: Tensor = rotate(x, places)
    return turned


def by_complex_numbers(x: Tensor, positions: Tensor) -> Tensor:
    """Turn neighbours as the authors of the weights do: a pair is a complex number."""
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    angles = positions[:, None] * rotary_frequencies(x.shape[-1], like=x)
    return torch.view_as_real(
        pairs * torch.polar(torch.ones_like(angles), angles)
    ).flatten(-2)


def check_loaded(rotation: Variant) -> None:
    """Check scores against those of the authors' code."""
    query, key = normal_numbers(5, WIDTH), normal_numbers(5, WIDTH, seed=1)
    positions = torch.arange(5)

    def scores_by(turn: Variant) -> Variant:
        return lambda q, k: turn(q, positions) @ turn(k, positions).mT

    check_agree(scores_by(by_complex_numbers), scores_by(rotation), query, key)


POSITIONS = (
    Exhibit(
        "exponent", "Sine and cosine of a pair have two frequencies", broken=doubled_exponents,
        sound=lambda at: sinusoidal_encoding(len(at), WIDTH, offset=int(at[0])),
        check=lambda encode: check_relative(lambda query, key: encode(query) @ encode(key).T),
        hint="rotated by one angle",
        threads=("SamLynnEvans/Transformer #25",
            "labmlai/annotated_deep_learning_paper_implementations #215 #244 #256",
            "datawhalechina/base-llm #67"),
    ),
    Exhibit(
        "two layouts", "A rotation that turns one pair of features by two angles",
        broken=two_layouts, sound=rotate, check=check_rotation, hint="rotated by one angle",
        threads=("raiyanyahya/how-to-train-your-gpt #6",),
    ),
    Exhibit(
        "loaded weights", "Weights of one rotary layout, run in the other", broken=loaded_as_halves,
        sound=partial(rotate, interleaved=True), check=check_loaded, hint="the two differ",
        threads=("rasbt/LLMs-from-scratch #751 #802 #838",),
    ),
)  # fmt: skip
