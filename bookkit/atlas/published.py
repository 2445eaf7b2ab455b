"""When architectures were published, and what the config.json of a published model says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True)
class Published:
    """What was published of an architecture."""

    year: int  # in which the first model of the architecture was published
    dated: str = ""  # what says so; empty where we found nothing that does
    model: str = ""  # the model whose sizes are shown; empty where they are the class's defaults
    file: str = ""  # its repository on the Hugging Face Hub
    checked: str = ""  # what the fields were compared with: "the file", or what quotes it
    # Those fields of its config.json that say how its layers are built
    config: Mapping[str, Any] = field(default_factory=dict)


@cache
def published() -> Mapping[str, Published]:
    """Return what was published of every architecture, by model_type.

    >>> published()["deepseek_v3"].model
    'DeepSeek-V3'
    """
    return {name: Published(**entry) for name, entry in table("published").items()}


def table(name: str) -> dict[str, Any]:
    """Return what a table of the atlas says, by model_type."""
    text = Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))
