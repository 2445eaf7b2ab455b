"""Beam search against enumeration, against lists, and against greedy decoding."""

import itertools
import math
from typing import Any

import pytest
import torch
from torch import Tensor

from companion.decoding import Decoded, beam, greedy, length_factor
from tests.chains import BOS, EOS, WORDS, Chain

PENALTIES = [0.0, 0.6, 2.0]
SEEDS = range(6)


def search(
    chain: Chain, sentences: list[int], *, k: int, penalty: float, max_len: int = 6
) -> Decoded:
    return beam(
        chain.step, chain.start(sentences, k), reorder=chain.reorder, batch_size=len(sentences),
        bos_id=BOS, eos_id=EOS, max_len=max_len, beam_size=k, length_penalty=penalty,
    )  # fmt: skip


def score(chain: Chain, sentence: int, tokens: list[int], penalty: float) -> float:
    """Equation 14 of Wu et al. (2016), without coverage."""
    factor: float = (5 + len(tokens)) ** penalty / (5 + 1) ** penalty
    assert length_factor(len(tokens), penalty) == pytest.approx(factor, rel=1e-14)
    return math.fsum(chain.log_probs(sentence, tokens)) / factor


def test_a_beam_that_holds_everything_finds_the_best_of_all() -> None:
    for penalty in PENALTIES:
        found_lengths = set()
        for seed in SEEDS:
            chain = Chain(seed)
            ended = [
                [*words, EOS]
                for length in range(4)
                for words in itertools.product(range(1, WORDS), repeat=length)
            ]
            best = max(ended, key=lambda tokens: score(chain, 1, tokens, penalty))
            found = search(chain, [1], k=64, penalty=penalty, max_len=4)
            assert found.sequences() == [best[:-1]]
            assert found.finished.tolist() == [True]
            found_lengths.add(len(best))
        assert len(found_lengths) > 1  # not the same length every time


def in_lists(
    chain: Chain, sentence: int, k: int, penalty: float, max_len: int
) -> tuple[list[int], bool]:
    """Beam search one sequence at a time; what has ended leaves the beam narrower."""
    alive: list[tuple[float, list[int]]] = [(0.0, [])]
    ended: list[tuple[float, list[int]]] = []
    for _ in range(max_len):
        grown = [
            (math.fsum(chain.log_probs(sentence, [*tokens, word])), [*tokens, word])
            for _, tokens in alive
            for word in range(WORDS)
        ]
        grown = sorted(grown, key=lambda pair: -pair[0])[: k - len(ended)]
        ended += [
            (score(chain, sentence, tokens, penalty), tokens)
            for _, tokens in grown
            if tokens[-1] == EOS
        ]
        alive = [pair for pair in grown if pair[1][-1] != EOS]
    if ended:
        return max(ended)[1][:-1], True
    return alive[0][1], False


def test_it_is_the_search_in_lists() -> None:
    ends = set()
    for k, penalty, max_len in itertools.product((1, 2, 3), PENALTIES, (2, 6)):
        for seed in SEEDS:
            chain = Chain(seed, sharpness=2.0)
            found = search(chain, [0, 1, 2], k=k, penalty=penalty, max_len=max_len)
            assert found.weights is not None
            for row, tokens in enumerate(found.sequences()):
                finished = bool(found.finished[row])
                assert (tokens, finished) == in_lists(chain, row, k, penalty, max_len)
                ends.add(finished)
                whole = [*tokens, EOS] if finished else tokens
                given = torch.tensor(chain.log_probs(row, whole), dtype=torch.float64)
                torch.testing.assert_close(found.log_probs[row, : len(whole)], given)
                assert found.log_probs[row, len(whole) :].abs().sum() == 0
                read = torch.tensor([BOS, *whole[:-1]])
                assert torch.equal(found.weights[row, : len(whole)], torch.eye(WORDS)[read])
    assert ends == {True, False}


def test_improbable_ends_do_not_stop_a_probable_sequence() -> None:
    """A stop after k ends would: beside a sure word, an end is among the best at every step."""
    chain = Chain(0)
    for place in range(5):
        chain.logits[0, place] = torch.tensor([1.0, 9.0, 0.0, 0.0])
    chain.logits[0, 5] = torch.tensor([9.0, 0.0, 0.0, 0.0])
    for k in (1, 2, 3):
        found = search(chain, [0], k=k, penalty=0.0)
        assert found.sequences() == [[1] * 5]
        assert found.finished.tolist() == [True]


def test_it_stops_when_nothing_can_become_better() -> None:
    chain = Chain(0)
    chain.logits[:, 0] = torch.tensor([9.0, 0.0, 0.0, 0.0])  # the end, almost surely
    search(chain, [0, 1], k=3, penalty=0.6)
    assert chain.steps == 1
    chain.steps = 0
    chain.logits[1, 0] = torch.tensor([-9.0, 0.0, 0.0, 0.0])
    search(chain, [0, 1], k=3, penalty=0.6)
    assert chain.steps > 1  # one sentence goes on


def test_impossible_requests_are_refused() -> None:
    for name, value, message in (
        ("length_penalty", 1e6, "wanted one that gives 3 tokens a finite factor"),
        ("bos_id", torch.tensor([1]), r"wanted \(2,\)"),
    ):
        chain = Chain(0)
        options: dict[str, Any] = {
            "batch_size": 1, "bos_id": BOS, "eos_id": EOS, "max_len": 3, "beam_size": 2,
            "reorder": chain.reorder,
        }  # fmt: skip
        with pytest.raises(ValueError, match=f"{name}: got .*, {message}"):
            beam(chain.step, chain.start([0], 2), **{**options, name: value})


def from_table(logits: Tensor, beam_size: int | None, **options: Any) -> Decoded:
    """Search where the next word depends on the last one alone; without a size, greedily."""

    def step(tokens: Tensor, state: None) -> tuple[Tensor, None, None]:
        return logits[tokens], state, None

    if beam_size is None:
        return greedy(step, None, batch_size=1, **options)
    reorder = lambda state, indices: state  # noqa: E731
    return beam(step, None, reorder=reorder, batch_size=1, beam_size=beam_size, **options)


def test_a_dead_end_does_not_spoil_the_other_beams() -> None:
    logits = torch.full((5, 5), -math.inf)
    logits[4, 1], logits[4, 2] = math.log(0.6), math.log(0.4)  # after 1 nothing is allowed
    logits[2, 3] = logits[3, 0] = 0.0
    found = from_table(logits, 2, bos_id=4, eos_id=0, max_len=6)
    assert found.sequences() == [[2, 3]]
    assert found.weights is None
    assert bool(found.finished)
    assert found.log_probs.sum().item() == pytest.approx(math.log(0.4))


# The first difference is lost in a float32 sum of many steps, the second in a softmax.
def test_beams_see_small_differences_as_greedy_does() -> None:
    for difference, max_len, beam_size in [(1e-5, 400, 1), (1e-8, 3, 1), (1e-5, 400, 3)]:
        logits = torch.tensor([[0.0, difference]]).expand(2, 2)
        options: dict[str, Any] = {"bos_id": 0, "eos_id": 7, "max_len": max_len}
        found = from_table(logits, beam_size, **options)
        plain = from_table(logits, None, **options)
        assert found.sequences() == plain.sequences() == [[1] * max_len]
        assert found.log_probs.dtype == torch.float32
