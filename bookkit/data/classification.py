"""Three generated questions about a sentence: is there a marker, who is more, who has what."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from companion.contracts import contract


class Examples(NamedTuple):
    """Sentences, what is asked about them, and what is right."""

    tokens: Tensor  # (b, n, f) ids, f features a word; zeros at the padding
    lengths: Tensor  # (b,) number of words
    question: Tensor  # (b,) ids
    labels: Tensor  # (b,) classes
    gold: Tensor  # (b, n) boolean, True at the words that decide


class _Task:
    """Sentences whose lengths lie between two bounds."""

    shortest: int
    longest: int

    def __post_init__(self) -> None:
        if self.longest < self.shortest:
            raise ValueError(f"longest: got {self.longest}, wanted at least {self.shortest}")

    @contract(count=">= 1")
    def draw(self, count: int, generator: Generator) -> Examples:
        """Draw sentences.

        >>> MarkerTask().draw(4, Generator().manual_seed(1)).gold.sum(-1)
        tensor([1, 1, 1, 1])
        >>> bool((MajorityTask().draw(4, Generator().manual_seed(1)).gold.sum(-1) >= 2).all())
        True
        >>> LookupTask().draw(4, Generator().manual_seed(1)).tokens.shape
        torch.Size([4, 10, 2])
        """
        lengths = torch.randint(self.shortest, self.longest + 1, (count,), generator=generator)
        words = torch.arange(self.longest) < lengths[:, None]
        return self._examples(lengths, words, generator)

    def _examples(self, lengths: Tensor, words: Tensor, generator: Generator) -> Examples:
        """Draw the words of sentences; `words`, (b, longest), is True where one stands."""
        raise NotImplementedError


@contract(fillers=">= 1", markers=">= 1", shortest=">= 1")
@dataclass(frozen=True)
class MarkerTask(_Task):
    """One word of the sentence decides: it is a marker, and says which of two classes is right."""

    fillers: int = 30  # number of words that say nothing
    markers: int = 3  # number of markers a class
    shortest: int = 5  # fewest words a sentence
    longest: int = 10  # most words a sentence

    classes = 2
    questions = 1

    @property
    def vocab_size(self) -> int:
        """Number of ids: the fillers, then the markers of both classes."""
        return self.fillers + 2 * self.markers

    def _examples(self, lengths: Tensor, words: Tensor, generator: Generator) -> Examples:
        labels = torch.randint(2, lengths.shape, generator=generator)
        which = torch.randint(self.markers, lengths.shape, generator=generator)
        gold = _ranks(words, generator) < 1
        tokens = torch.randint(self.fillers, words.shape, generator=generator)
        marker = self.fillers + self.markers * labels + which
        tokens = torch.where(gold, marker[:, None], tokens).masked_fill(~words, 0)
        return Examples(tokens[..., None], lengths, torch.zeros_like(lengths), labels, gold)


@contract(fillers=">= 1", voters=">= 1", shortest=">= 3")
@dataclass(frozen=True)
class MajorityTask(_Task):
    """Every vote counts the same: which of two parties has more words in the sentence?"""

    fillers: int = 10  # number of words that say nothing
    voters: int = 10  # number of words a party
    shortest: int = 5  # fewest words a sentence
    longest: int = 10  # most words a sentence

    classes = 2
    questions = 1

    @property
    def vocab_size(self) -> int:
        """Number of ids: the fillers, then the words of both parties."""
        return self.fillers + 2 * self.voters

    def _examples(self, lengths: Tensor, words: Tensor, generator: Generator) -> Examples:
        """Draw 3 votes or a larger odd number, so that no two parties tie."""
        most = (lengths - 1) // 2
        votes = 1 + 2 * (1 + (torch.rand(len(lengths), generator=generator) * most).long())
        voting = _ranks(words, generator) < votes[:, None]
        party = torch.randint(2, words.shape, generator=generator)
        labels = ((party * voting).sum(-1) * 2 > votes).long()
        voter = torch.randint(self.voters, words.shape, generator=generator)
        tokens = torch.randint(self.fillers, words.shape, generator=generator)
        tokens = torch.where(voting, self.fillers + self.voters * party + voter, tokens)
        gold = voting & (party == labels[:, None])
        tokens = tokens.masked_fill(~words, 0)
        return Examples(tokens[..., None], lengths, torch.zeros_like(lengths), labels, gold)


@contract(names=">= 1", values=">= 1", shortest=">= 1")
@dataclass(frozen=True)
class LookupTask(_Task):
    """Every word is a fact, a name with a value; the question names one: which value has it?"""

    names: int = 16  # number of names; those of a sentence differ
    values: int = 8  # number of values, which are the classes
    shortest: int = 5  # fewest facts a sentence
    longest: int = 10  # most facts a sentence

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.names < self.longest:
            wanted = f"at least {self.longest}, the longest sentence"
            raise ValueError(f"names: got {self.names}, wanted {wanted}")

    @property
    def classes(self) -> int:
        """Number of values."""
        return self.values

    @property
    def questions(self) -> int:
        """Number of names."""
        return self.names

    @property
    def vocab_size(self) -> int:
        """Number of ids: the names, then the values."""
        return self.names + self.values

    def _examples(self, lengths: Tensor, words: Tensor, generator: Generator) -> Examples:
        names = torch.rand(len(lengths), self.names, generator=generator).argsort(-1)
        names = names[:, : self.longest]
        values = torch.randint(self.values, words.shape, generator=generator)
        gold = _ranks(words, generator) < 1
        tokens = torch.stack((names, self.names + values), -1).masked_fill(~words[..., None], 0)
        return Examples(tokens, lengths, names[gold], values[gold], gold)


ClassificationTask = MarkerTask | MajorityTask | LookupTask
"""Any of the three."""


def _ranks(words: Tensor, generator: Generator) -> Tensor:
    """Number the words of every row in random order; the padding comes last."""
    keys = torch.rand(words.shape, generator=generator).masked_fill(~words, 2.0)
    return keys.argsort(-1).argsort(-1)
