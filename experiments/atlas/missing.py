"""Why architectures of the library are no rows of the atlas, where we know it."""

from __future__ import annotations

from collections.abc import Mapping

REASONS: Mapping[str, str] = {}
"""By model_type, a sentence."""
