"""What is measured: each case is a module with a TITLE, its SETTINGS and a function `run`."""

NAMES = (
    "forward",
    "gradients",
    "precision",
    "window",
    "arrays",
    "overhead",
    "modules",
    "recurrent",
    "training",
    "generation",
    "memory",
    "imports",
)
"""In the order of the table."""
