"""The rows of the atlas, as `rows.yaml` has them: a model_type of the library, and a small size."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_FILE = yaml.safe_load(Path(__file__).with_name("rows.yaml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Row:
    """One architecture.

    Attributes:
        name: model_type of its configuration.
        toy: fields of the configuration at toy size.
        base: fields that most rows share; a row that has none of them gives its own.
        auto: the library's class that builds it with a layer of scores.
        cache: what the library calls its cache.
        factors: by pattern of their names, what stored tensors are multiplied by where random ones
            make scores so large that rounding shows.
        ties: its indexer chooses among equal scores as torch.topk happens to, so that the
            reference differs from itself when the text grows; for all that is compared, torch.topk
            takes the earlier key, as ours does, and `reference_leak` and `reference_cached` say
            how large the difference is without that.
        rounding: why rounding would show with the fields of the other rows, where this one has
            others to keep it out of sight.
        held_twice: bytes of the reference's cache that repeat others of it, and that
            `reference_bytes` leaves out: its layers with a window alone keep keys and values apart
            where both are the same.
    """

    name: str
    toy: Mapping[str, Any] = field(default_factory=dict)
    base: Mapping[str, Any] = field(default_factory=lambda: _FILE["parts"]["base"])
    auto: str = "AutoModelForCausalLM"
    cache: str = "past_key_values"
    factors: Mapping[str, float] = field(default_factory=dict)
    ties: bool = False
    rounding: str = ""
    held_twice: int = 0

    @property
    def fields(self) -> dict[str, Any]:
        """All fields at toy size."""
        return {**self.base, **self.toy}


ROWS = tuple(Row(name, **given) for name, given in _FILE["rows"].items())
"""The architectures, each of which the check builds twice."""
