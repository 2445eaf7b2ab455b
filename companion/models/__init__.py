"""Models built from the layers."""

import companion.needs_torch  # noqa: F401
