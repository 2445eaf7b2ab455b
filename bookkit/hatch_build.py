"""Say what the wheel holds: this folder as `bookkit`, and the studies and the readings of a GPU.

An editable install has none of these. It finds them in the repository, and a copy of `experiments`
in the environment would come before that.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LEFT_OUT = {"pyproject.toml", "hatch_build.py", "__pycache__"}


class Contents(BuildHookInterface[Any]):
    """Name the files of the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Include what pages read, unless the install is an editable one."""
        if version == "standard":
            kept = [path for path in Path(self.root).iterdir() if path.name not in LEFT_OUT]
            build_data["force_include"] |= {
                "../experiments": "experiments",
                "../benchmarks/results/gpu.json": "benchmarks/results/gpu.json",
                **{path.name: f"bookkit/{path.name}" for path in kept},
            }
