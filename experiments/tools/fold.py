"""Fold in Jupyter what is folded on the page: `python -m experiments.tools.fold PAGE...`.

Tags say what the built page folds or leaves out. JupyterLab reads other metadata, which this sets
from the tags, so that a page opened as a notebook is as clean as the page in the book.
"""

import argparse
import json
from pathlib import Path
from typing import Any

SOURCE, OUTPUTS = "source_hidden", "outputs_hidden"
FOLDS = {
    "hide-input": {SOURCE},
    "remove-input": {SOURCE},
    "hide-output": {OUTPUTS},
    "remove-output": {OUTPUTS},
    "hide-cell": {SOURCE, OUTPUTS},
    "remove-cell": {SOURCE, OUTPUTS},
}
"""What each tag folds, as JupyterLab calls it."""


def folded(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of a cell with what JupyterLab folds, as the tags say.

    >>> folded({"tags": ["hide-input"]})
    {'tags': ['hide-input'], 'jupyter': {'source_hidden': True}}
    >>> folded({"jupyter": {"source_hidden": True}})
    {}
    """
    parts = set().union(*(FOLDS.get(tag, set()) for tag in metadata.get("tags", ())))
    others = {
        key: value
        for key, value in metadata.get("jupyter", {}).items()
        if key not in (SOURCE, OUTPUTS)
    }
    jupyter = others | {part: True for part in (SOURCE, OUTPUTS) if part in parts}
    rest = {key: value for key, value in metadata.items() if key != "jupyter"}
    return rest | ({"jupyter": jupyter} if jupyter else {})


def fold(path: Path) -> None:
    """Set what JupyterLab folds in a notebook, and leave every other character as it is."""
    page = json.loads(path.read_text(encoding="utf-8"))
    for cell in page["cells"]:
        if cell["cell_type"] == "code":
            cell["metadata"] = folded(cell["metadata"])
    write(page, path)


def write(page: dict[str, Any], path: Path) -> None:
    """Write a notebook in the form that nbformat writes: keys in order, an indent of one."""
    text = json.dumps(page, ensure_ascii=False, indent=1, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Fold the pages that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m experiments.tools.fold", description=__doc__)
    parser.add_argument("pages", nargs="+", type=Path, help="notebooks")
    for path in parser.parse_args().pages:
        fold(path)


if __name__ == "__main__":
    main()
