"""What the library says of its architectures: names and files."""

import hashlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import transformers
from transformers.models.auto.configuration_auto import (
    CONFIG_MAPPING_NAMES,
    model_type_to_module_name,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

_FOLDER = Path(transformers.__file__).parent
_CHECKPOINT = re.compile(r'checkpoint="([^"]+)"')


def causal_language_models() -> Iterator[str]:
    """Yield every model_type that predicts the next token of a text."""
    yield from MODEL_FOR_CAUSAL_LM_MAPPING_NAMES


def class_name(model_type: str) -> str:
    """Return the class that predicts the next token."""
    name = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES[model_type]
    return name if isinstance(name, str) else name[0]


def name_of(model_type: str) -> str:
    """Return what the library calls an architecture: its configuration's class without that word.

    >>> name_of("gpt_oss"), name_of("gemma3_text")
    ('GptOss', 'Gemma3')
    """
    return re.sub(r"(Text)?Config$", "", str(CONFIG_MAPPING_NAMES[model_type]))


def checkpoint_of(model_type: str) -> str:
    """Return the published model that the library names as an example; empty if it names none."""
    source = _folder(model_type) / f"configuration_{_module(model_type)}.py"
    found = _CHECKPOINT.search(source.read_text(encoding="utf8")) if source.exists() else None
    return "" if found is None else found[1]


def modeling_file(model_type: str) -> Path:
    """Return the file in which an architecture is computed.

    Some have no file of their own, because the class of another architecture computes them.
    """
    own = _folder(model_type) / f"modeling_{_module(model_type)}.py"
    if own.exists():
        return own
    kind = getattr(transformers, class_name(model_type))
    return Path(str(inspect.getsourcefile(kind)))


def _module(model_type: str) -> str:
    return str(model_type_to_module_name(model_type))


def _folder(model_type: str) -> Path:
    return _FOLDER / "models" / _module(model_type)


def path_of(file: Path) -> str:
    """Return where a file lies, from the folder of the library on."""
    return file.relative_to(_FOLDER.parent).as_posix()


def sha256(file: Path) -> str:
    """Return the digest of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
