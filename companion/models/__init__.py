"""Models built from the layers."""
