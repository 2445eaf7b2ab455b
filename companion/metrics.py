"""How good is a translation or a caption, and does attention look where a person would."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from companion.contracts import contract

if TYPE_CHECKING:
    from companion.data.pairs import Pair

Links = frozenset[tuple[int, int]]
"""Word links as (target index, source index): the row and column of an attention matrix."""
Tokens = Sequence[str]


def _check_sentences(
    hypotheses: Sequence[Tokens], references: Sequence[Tokens]
) -> None:
    """Refuse two corpora that differ in size, and strings, whose letters would pass for tokens."""
    corpora = {"hypotheses": hypotheses, "references": references}
    for name, corpus in corpora.items():
        if isinstance(corpus, str):
            raise TypeError(
                f"{name}: got str, wanted a sequence of token sequences"
            )
    _check_parallel("hypotheses", hypotheses, references)
    for name, corpus in corpora.items():
        for number, tokens in enumerate(corpus):
            if isinstance(tokens, str):
                raise TypeError(
                    f"{name}[{number}]: got str, wanted a sequence of tokens"
                )


def _check_parallel(
    name: str, predictions: Sequence[object], references: Sequence[object]
) -> None:
    """Refuse predictions, an argument of that name, and references that differ in number."""
    if len(predictions) != len(references):
        raise ValueError(
            f"{name}: got {len(predictions)} predictions for {len(references)} references, "
            "wanted as many"
        )
    if not len(predictions):
        raise ValueError(f"{name}: got no sentences, wanted at least one")


@contract()
def bleu(hypotheses: Sequence[Tokens], references: Sequence[Tokens]) -> float:
    """Score a corpus of token sequences by BLEU, computed by sacrebleu on the tokens as given.

    Args:
        hypotheses: token sequences that a model wrote.
        references: one reference for each.

    Returns:
        Corpus BLEU between 0 and 100: 4-grams, exponential smoothing, no retokenising
        (Papineni et al., 2002; Post, 2018).

    Raises:
        TypeError: a sentence is a string, not its tokens.
        ValueError: no sentences, or two numbers of them.

    >>> round(bleu([("la", "casa", "roja", ".")], [("la", "casa", "roja", ".")]), 6)
    100.0
    """
    _check_sentences(hypotheses, references)
    from sacrebleu import corpus_bleu

    written, right = _numbered(hypotheses, references)
    score = corpus_bleu(written, [right], tokenize="none", force=True).score
    return float(score)


@contract()
def rouge(
    hypotheses: Sequence[Tokens], references: Sequence[Tokens]
) -> dict[str, float]:
    """Score summaries by ROUGE-1, ROUGE-2 and ROUGE-L (Lin, 2004), computed by rouge-score.

    Each is the F-measure of what two token sequences share, in percent, as a mean over the
    summaries: single words, pairs of neighbours, and the longest common subsequence. Tokens are
    taken as given: nothing is stemmed, and punctuation counts.

    Args:
        hypotheses: token sequences that a model wrote.
        references: one reference for each.

    Raises:
        TypeError: a sentence is a string, not its tokens.
        ValueError: no sentences, or two numbers of them.

    >>> scores = rouge([("toral", "beat", "mikuno")], [("mikuno", "beat", "toral")])
    >>> {name: round(score, 1) for name, score in scores.items()}
    {'rouge-1': 100.0, 'rouge-2': 0.0, 'rouge-l': 33.3}
    """
    _check_sentences(hypotheses, references)
    from rouge_score.rouge_scorer import RougeScorer

    names = {"rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-l": "rougeL"}
    scorer = RougeScorer([*names.values()], tokenizer=_AsGiven())
    pairs = zip(*_numbered(hypotheses, references), strict=True)
    scores = [scorer.score(right, written) for written, right in pairs]
    return {
        name: 100.0
        * sum(score[theirs].fmeasure for score in scores)
        / len(scores)
        for name, theirs in names.items()
    }


class _AsGiven:
    """Splits at white space, where rouge-score would drop all that is no letter or digit."""

    def tokenize(self, text: str) -> list[str]:
        return text.split()


@contract()
def exact_match(
    hypotheses: Sequence[Tokens], references: Sequence[Tokens]
) -> float:
    """Return the percentage of token sequences that equal their reference.

    Args:
        hypotheses: token sequences that a model wrote.
        references: one reference for each.

    Raises:
        TypeError: a sentence is a string, not its tokens.
        ValueError: no sentences, or two numbers of them.

    >>> exact_match([("la", "casa"), ("el", "casa")], [("la", "casa"), ("la", "casa")])
    50.0
    """
    _check_sentences(hypotheses, references)
    pairs = zip(hypotheses, references, strict=True)
    hits = sum(tuple(h) == tuple(r) for h, r in pairs)
    return 100.0 * hits / len(references)


@contract()
def alignment_error_rate(
    links: Sequence[Iterable[tuple[int, int]]], pairs: Sequence[Pair]
) -> float:
    r"""Compare predicted word links with gold ones (Och and Ney, 2003).

    With predicted links A, sure links S and P = S and the possible links, the rate over the
    whole corpus is 1 - (|A and S| + |A and P|) / (|A| + |S|).

    Args:
        links: predicted (target index, source index) links, one collection a pair.
        pairs: pairs with their gold links.

    Returns:
        The rate in percent: 0 is perfect.

    Raises:
        ValueError: no sentences, they differ in number, or there is nothing to compare.

    >>> from companion.data.pairs import Pair
    >>> pair = Pair(("red", "house"), ("casa", "roja"), frozenset({(0, 1), (1, 0)}))
    >>> alignment_error_rate([{(0, 1), (1, 1)}], [pair])
    50.0
    """
    _check_parallel("links", links, pairs)
    agreed = total = 0
    for predicted, pair in zip(map(frozenset, links), pairs, strict=True):
        agreed += len(predicted & pair.sure) + len(
            predicted & (pair.sure | pair.possible)
        )
        total += len(predicted) + len(pair.sure)
    if total == 0:
        raise ValueError(
            "links, pairs: neither holds a link, wanted some to compare"
        )
    return 100.0 * (1.0 - agreed / total)


@contract()
def link_accuracy(
    links: Sequence[Iterable[tuple[int, int]]], pairs: Sequence[Pair]
) -> dict[str, tuple[float, int]]:
    """Count, for every word class, how many target words are linked as a person would.

    A target word counts as right when every link predicted for it is a gold link, sure or
    possible; a word with no predicted link is wrong.

    Args:
        links: predicted (target index, source index) links, one collection a pair.
        pairs: pairs with their gold links and word classes.

    Returns:
        For each word class, the percentage of right words and the number of words.

    Raises:
        ValueError: no sentences, they differ in number, or a pair has no word classes.

    >>> from companion.data.pairs import Pair
    >>> pair = Pair(("red", "house"), ("casa", "roja"), frozenset({(0, 1), (1, 0)}),
    ...             classes=("noun", "adjective"))
    >>> link_accuracy([{(0, 1), (1, 1)}], [pair])
    {'adjective': (0.0, 1), 'noun': (100.0, 1)}
    """
    _check_parallel("links", links, pairs)
    right: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for number, (predicted, pair) in enumerate(
        zip(map(frozenset, links), pairs, strict=True)
    ):
        if len(pair.classes) != len(pair.target):
            raise ValueError(
                f"pairs[{number}].classes: got {len(pair.classes)} for {len(pair.target)} target "
                "words, wanted one each"
            )
        for i, name in enumerate(pair.classes):
            of_word = {link for link in predicted if link[0] == i}
            words[name] += 1
            right[name] += (
                bool(of_word) and of_word <= pair.sure | pair.possible
            )
    return {
        name: (100.0 * right[name] / words[name], words[name])
        for name in sorted(words)
    }


def _numbered(*corpora: Sequence[Sequence[str]]) -> list[list[str]]:
    """Write every token as a number, so that a split at white space gives the tokens back."""
    numbers: defaultdict[str, str] = defaultdict(lambda: str(len(numbers)))
    return [
        [" ".join(map(numbers.__getitem__, tokens)) for tokens in corpus]
        for corpus in corpora
    ]
