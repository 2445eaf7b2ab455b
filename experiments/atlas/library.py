"""What the library says of its architectures: names, files, and the year in their headers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import transformers
from transformers.models.auto.configuration_auto import model_type_to_module_name
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

_FOLDER = Path(transformers.__file__).parent
_YEAR = re.compile(r"Copyright (?:\([cC]\) )?(\d{4})")
_CHECKPOINT = re.compile(r'checkpoint="([^"]+)"')
_ENDING = re.compile(r"(Text)?(For|LMHead|Model).*$")


def causal_language_models() -> Iterator[str]:
    """Yield every model_type that predicts the next token of a text."""
    yield from MODEL_FOR_CAUSAL_LM_MAPPING_NAMES


def class_name(model_type: str) -> str:
    """Return the class that predicts the next token."""
    name = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES[model_type]
    return name if isinstance(name, str) else name[0]


def name_of(model_type: str) -> str:
    """Return what the library calls an architecture: its class without what the class does.

    >>> name_of("gpt_oss")
    'GptOss'
    """
    return _ENDING.sub("", class_name(model_type))


def checkpoint_of(model_type: str) -> str:
    """Return the published model that the library names as an example; empty if it names none."""
    file = modeling_file(model_type)
    if file is None:
        return ""
    source = file.with_name(file.name.replace("modeling_", "configuration_"))
    found = _CHECKPOINT.search(source.read_text(encoding="utf8")) if source.exists() else None
    return "" if found is None else found[1]


def modeling_file(model_type: str) -> Path | None:
    """Return the file in which an architecture is computed; None where it has no file of its own.

    Another architecture computes those without one: their configurations say which.
    """
    module = model_type_to_module_name(model_type)
    folder = _FOLDER / "models" / module
    own = model_type.replace("-", "_")
    names = (f"modeling_{module}.py", f"modeling_{own}.py")
    return next((folder / name for name in names if (folder / name).exists()), None)


def path_of(file: Path) -> str:
    """Return where a file lies, from the folder of the library on."""
    return file.relative_to(_FOLDER.parent).as_posix()


def sha256(file: Path) -> str:
    """Return the digest of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def year_of(model_type: str) -> int | None:
    """Return the year of the copyright in the header of an architecture's source files.

    That of the modeling file counts; where it has none, as in files that are generated, that of
    the file from which it is generated, then of the configuration, then of the package.
    """
    file = modeling_file(model_type)
    if file is None:
        return None
    module = file.stem.removeprefix("modeling_")
    names = (file.name, f"modular_{module}.py", f"configuration_{module}.py", "__init__.py")
    for name in names:
        source = file.with_name(name)
        found = _YEAR.search(source.read_text(encoding="utf8")[:2000]) if source.exists() else None
        if found is not None:
            return int(found[1])
    return None
