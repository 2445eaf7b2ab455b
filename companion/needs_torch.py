"""Say what to install where torch is wanted and is not there: what needs it imports this first."""

from importlib.util import find_spec

if find_spec("torch") is None:
    raise ModuleNotFoundError(
        "companion: layers, models and what trains them need torch: "
        "pip install 'attention-companion[train]'",
        name="torch",
    )
