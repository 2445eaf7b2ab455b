"""Word pieces: what cuts a sentence as it is written into pieces of words, and joins them again."""

from collections.abc import Mapping, Sequence

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from companion.data.vocabulary import SPECIAL

MARKS = r"▁?(?:(?!▁)[\p{P}\p{S}\p{N}])"
"""Signs that are never joined with others but the space before them: marks, and single digits."""


def word_pieces(
    ids: Mapping[str, int] | None = None, merges: Sequence[tuple[str, str]] | None = None
) -> Tokenizer:
    """Return what cuts text by merging pairs of pieces in their order (Sennrich et al., 2016).

    A piece with which a word begins starts with ▁. A sign that is no piece is read as <unk>.

    Args:
        ids: the pieces with their numbers; without any, pieces are still to be learned.
        merges: the pairs that are merged, the first of them first.

    >>> ids = {"<unk>": 0, "▁": 1, "g": 2, "o": 3, "!": 4, "go": 5, "▁go": 6}
    >>> pieces = word_pieces(ids, [("g", "o"), ("▁", "go")])
    >>> pieces.encode("go go!").tokens, pieces.decode([6, 4])
    (['▁go', '▁go', '!'], 'go!')
    """
    rules = (None, None) if ids is None else (dict(ids), list(merges or ()))
    pieces = Tokenizer(models.BPE(*rules, unk_token=SPECIAL[3], fuse_unk=False))
    pieces.normalizer = normalizers.NFC()
    pieces.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(prepend_scheme="always"),
            pre_tokenizers.Split(Regex(MARKS), behavior="isolated"),
        ]
    )
    pieces.decoder = decoders.Metaspace(prepend_scheme="always")
    return pieces
