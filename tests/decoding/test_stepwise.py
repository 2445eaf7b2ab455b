"""Greedy decoding and sampling over a step that knows no model."""

from typing import Any

import pytest
import torch
from torch import Tensor

from companion.decoding import greedy, sample
from tests import chains
from tests.chains import Chain

BOS, EOS, WORDS = 7, 0, 8


def script(*sequences: list[int]):  # type: ignore[no-untyped-def]
    """A step that writes given sequences, one a row; its state is the place."""

    def step(tokens: Tensor, place: int) -> tuple[Tensor, int, Tensor]:
        expected = [([BOS, *row] + [EOS] * 9)[place] for row in sequences]
        alive = [place <= len(row) for row in sequences]
        assert [t for t, a in zip(tokens.tolist(), alive, strict=True) if a] == [
            e for e, a in zip(expected, alive, strict=True) if a
        ]
        following = torch.tensor([(row + [EOS] + [3] * 9)[place] for row in sequences])
        return torch.eye(WORDS)[following], place + 1, torch.full((len(sequences), 5), 0.2)

    return step


def decode(step, *, rows: int, max_len: int = 6):  # type: ignore[no-untyped-def]
    return greedy(step, 0, batch_size=rows, bos_id=BOS, eos_id=EOS, max_len=max_len)


def test_each_sequence_ends_by_itself() -> None:
    """The script says 3 for ever after its end: none of it may come back."""
    rows = [[4, 5], [], [6, 1, 2]]
    decoded = decode(script(*rows), rows=3, max_len=50)
    assert decoded.sequences() == rows
    assert decoded.lengths.tolist() == [2, 0, 3]
    assert decoded.finished.tolist() == [True, True, True]
    assert decoded.tokens.tolist() == [[4, 5, EOS, EOS], [EOS] * 4, [6, 1, 2, EOS]]
    assert decoded.weights is not None
    assert decoded.weights.shape == (3, 4, 5)


def test_every_row_may_start_from_a_token_of_its_own() -> None:
    read = []

    def step(tokens: Tensor, state: None) -> tuple[Tensor, None, None]:
        read.append(tokens.tolist())
        return torch.eye(WORDS)[torch.full_like(tokens, EOS)], state, None

    options: dict[str, Any] = {"batch_size": 3, "eos_id": EOS, "max_len": 2}
    found = greedy(step, None, bos_id=torch.tensor([5, 6, 1]), **options)
    assert read == [[5, 6, 1]]
    assert found.weights is None


CHAIN: dict[str, Any] = {"bos_id": chains.BOS, "eos_id": chains.EOS}


def test_log_probabilities_are_those_of_the_sequence() -> None:
    chain = Chain(4)
    options: dict[str, Any] = {"batch_size": 3, "max_len": 6, **CHAIN}
    cuts: dict[str, Any] = {"temperature": 0.5, "top_k": 3, "top_p": 0.9}
    for decoded in (
        greedy(chain.step, chain.start([0, 1, 2]), **options),
        sample(chain.step, chain.start([0, 1, 2]), **cuts, **options),
    ):
        for row, tokens in enumerate(decoded.sequences()):
            whole = [*tokens, chains.EOS] if decoded.finished[row] else tokens
            given = torch.tensor(chain.log_probs(row, whole), dtype=torch.float64)
            torch.testing.assert_close(decoded.log_probs[row, : len(whole)], given)
            assert decoded.log_probs[row, len(whole) :].abs().sum() == 0


def drawn(count: int, **options: Any) -> Tensor:
    """How often each word comes first in `count` draws of one step."""
    chain = Chain(4)
    generator = torch.Generator().manual_seed(0)
    options = {"max_len": 1, "generator": generator, **CHAIN, **options}
    found = sample(chain.step, chain.start([1] * count), batch_size=count, **options)
    return torch.bincount(found.tokens[:, 0], minlength=chains.WORDS) / count


def test_words_come_as_often_as_their_tempered_probability_and_what_is_cut_never() -> None:
    logits = Chain(4).logits[1, 0, chains.BOS]
    order = logits.argsort(descending=True)
    both = float(logits.softmax(-1)[order[:2]].sum())
    for temperature, left, cut in (
        (0.5, 4, {}),
        (1.0, 4, {}),
        (3.0, 4, {}),
        (1.0, 1, {"top_k": 1}),
        (1.0, 2, {"top_k": 2}),
        (1.0, 2, {"top_p": both - 0.01}),
        (9.0, 4, {"top_p": both - 0.01}),  # the temperature comes before the cut
    ):
        shares = drawn(20_000, temperature=temperature, **cut)[order]
        assert shares[left:].sum() == 0
        expected = (logits[order[:left]] / temperature).softmax(-1).float()
        # Five standard errors of a share of so many draws.
        assert (shares[:left] - expected).abs().max() < 5 * 0.5 / 20_000**0.5


def test_the_same_generator_draws_the_same() -> None:
    def write(seed: int) -> list[list[int]]:
        chain, generator = Chain(4), torch.Generator().manual_seed(seed)
        options: dict[str, Any] = {"batch_size": 3, "max_len": 6, "generator": generator, **CHAIN}
        return sample(chain.step, chain.start([0, 1, 2]), **options).sequences()

    assert write(5) == write(5)
    assert any(write(5) != write(seed) for seed in range(6, 9))


def test_impossible_draws_are_refused() -> None:
    impossible: dict[str, Any] = {"temperature": 1e-320, "top_k": 0, "top_p": 1.5, "min_p": 0.0}
    for name, value in impossible.items():
        chain, options = Chain(0), CHAIN | {name: value}
        with pytest.raises(ValueError, match=f"{name}: got {value}, wanted"):
            sample(chain.step, chain.start([0]), batch_size=1, max_len=2, **options)


def test_rows_in_which_nothing_is_allowed_or_known_are_not_finished() -> None:
    logits = torch.full((5, 5), -torch.inf)  # after 1 nothing is allowed
    logits[3, 1] = logits[2, 2] = logits[4, 0] = 0.0  # after the end, 0, nothing either
    logits[0] = torch.eye(5)[0]
    logits[2, 0] = torch.nan

    def step(tokens: Tensor, state: None) -> tuple[Tensor, None, None]:
        return logits[tokens], state, None

    options: dict[str, Any] = {"eos_id": 0, "max_len": 4, "batch_size": 3}
    found = greedy(step, None, bos_id=torch.tensor([3, 2, 4]), **options)
    assert found.finished.tolist() == [False, False, True]
    assert not found.log_probs[0].isnan().any()


def test_a_row_that_has_ended_may_be_forbidden_everything() -> None:
    logits = torch.full((4, 4), -torch.inf)
    logits[3, 0] = logits[2, 1] = logits[1, 1] = 0.0  # after the end, 0, nothing is allowed
    found = sample(
        lambda tokens, state: (logits[tokens], state, None), None, batch_size=2, eos_id=0,
        bos_id=torch.tensor([3, 2]), max_len=4, temperature=1e-38,
    )  # fmt: skip
    assert found.sequences() == [[], [1, 1, 1, 1]]
    assert found.finished.tolist() == [True, False]
