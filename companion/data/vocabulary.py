"""Tokens to integers and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import index

from companion.contracts import contract

SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>")
"""The tokens of ids 0 to 3: padding, begin and end of sentence, unknown word."""


class Vocabulary:
    """Number the tokens of one language; ids 0 to 3 are `<pad>`, `<bos>`, `<eos>`, `<unk>`.

    Args:
        tokens: the tokens of ids 4 and up, all different.

    Raises:
        ValueError: a token comes twice or is one of the four special ones.

    >>> vocab = Vocabulary(["la", "casa"])
    >>> vocab.encode(("la", "gran", "casa"))
    [4, 3, 5]
    """

    pad_id, bos_id, eos_id, unk_id = range(4)

    def __init__(self, tokens: Iterable[str]) -> None:
        self._tokens = (*SPECIAL, *tokens)
        # Special tokens have no entry: the text "<eos>" in a sentence must not end it.
        own = enumerate(self._tokens[len(SPECIAL) :], len(SPECIAL))
        self._ids = {token: i for i, token in own}
        counts = Counter(self._tokens)
        repeated = [token for token, n in counts.items() if n > 1]
        if repeated:
            raise ValueError(
                f"tokens: got {repeated} twice or as a special token's name"
            )

    @classmethod
    @contract(min_count=">= 1", max_size=">= 4")
    def from_tokens(
        cls,
        sentences: Iterable[Sequence[str]],
        *,
        min_count: int = 1,
        max_size: int | None = None,
    ) -> Vocabulary:
        """Number the tokens of sentences, the most frequent first, ties in alphabetical order.

        Args:
            sentences: token sequences.
            min_count: rarer tokens are left out, and so read as `<unk>`.
            max_size: largest `len()` of the result, the four special tokens included.

        Raises:
            TypeError: a sentence is a string.

        >>> Vocabulary.from_tokens([("a", "dog"), ("a", "cat")]).tokens[4:]
        ('a', 'cat', 'dog')
        """
        counts: Counter[str] = Counter()
        for sentence in sentences:
            counts.update(_tokens(sentence))
        kept = [token for token, count in counts.items() if count >= min_count]
        kept.sort(key=lambda token: (-counts[token], token))
        return cls(
            kept if max_size is None else kept[: max_size - len(SPECIAL)]
        )

    @property
    def tokens(self) -> tuple[str, ...]:
        """All tokens in the order of their ids."""
        return self._tokens

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """Return the ids of tokens; `<bos>` and `<eos>` are not added.

        Args:
            tokens: tokens; those not in the vocabulary become `<unk>`.

        Raises:
            TypeError: `tokens` is a string.
        """
        return [self._ids.get(token, self.unk_id) for token in _tokens(tokens)]

    def extended(self, tokens: Iterable[str]) -> Vocabulary:
        """Return a vocabulary in which these tokens have ids, too: new ones come at the end.

        A model that copies numbers the unknown words of one sentence so (See et al., 2017).

        Args:
            tokens: those that are known already keep their ids; the names of the four special ones
                stay unknown.

        >>> vocab = Vocabulary(["beat"])
        >>> vocab.extended(("mikuno", "beat", "toral", "mikuno")).encode(("toral", "beat"))
        [6, 4]
        """
        known = {*self._tokens}
        new = dict.fromkeys(token for token in tokens if token not in known)
        return Vocabulary((*self._tokens[len(SPECIAL) :], *new))

    def decode(self, ids: Iterable[int]) -> tuple[str, ...]:
        """Return the tokens of ids up to the first `<eos>`, without padding and `<bos>`.

        Args:
            ids: integers, also of NumPy or torch.

        Raises:
            ValueError: an id is not in the vocabulary.

        >>> Vocabulary(["hola"]).decode([1, 4, 3, 2, 0, 0])
        ('hola', '<unk>')
        """
        tokens = []
        for number in map(index, ids):
            if not 0 <= number < len(self):
                raise ValueError(
                    f"ids: got {number}, wanted 0 to {len(self) - 1}"
                )
            if number == self.eos_id:
                break
            if number not in (self.pad_id, self.bos_id):
                tokens.append(self._tokens[number])
        return tuple(tokens)

    def __len__(self) -> int:
        return len(self._tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self._tokens == other._tokens

    def __hash__(self) -> int:
        return hash(self._tokens)

    def __repr__(self) -> str:
        return f"Vocabulary of {len(self)} tokens"


def _tokens(sentence: Sequence[str]) -> Sequence[str]:
    if isinstance(sentence, str):
        raise TypeError(
            f"tokens: got the string {sentence!r}, wanted a sequence of tokens"
        )
    return sentence
