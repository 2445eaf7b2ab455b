"""A translator of real sentences that runs in the reader's browser, in word pieces."""

from pathlib import Path

from tokenizers import Tokenizer

from bookkit.data.pieces import word_pieces
from bookkit.playables.translator import FOLDER
from bookkit.playables.weights import load_translator, read_about
from companion.data.vocabulary import SPECIAL
from companion.translation import Translator

FILE = FOLDER / "real-sentences.safetensors"
"""The weights, in eight bits, with the pieces and what made it."""


def load_real_translator(path: Path = FILE) -> tuple[Translator, Tokenizer]:
    """Return the translator of pieces, and what cuts a sentence into them.

    >>> translator, pieces = load_real_translator()
    >>> said = translator.translate([pieces.encode("Where is my book?").tokens])[0]
    >>> "".join(said.tokens)
    '▁¿Dónde▁está▁mi▁libro?'
    """
    about = read_about(path)
    ids = {piece: number for number, piece in enumerate((*SPECIAL, *about["target"]))}
    merges = [tuple(pair.split(" ")) for pair in about["merges"]]
    return load_translator(path), word_pieces(ids, merges)
