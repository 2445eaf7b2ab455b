"""The notebook's layer is wrong where the page says so, and the repaired one is the package's.

A decoder that reads its answers copies them; what is shown as the notebook's stands in its cell.
"""

import io
import tokenize
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from bookkit import founding
from bookkit.founding import FoundingAttention, RepairedAttention, Trainee
from bookkit.notebook.beside import statements
from companion import additive_score, attend, masked_softmax, padding_mask
from companion.data.batching import Batch

B, Q, K, D = 2, 5, 7, 3


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def weights_by_the_package(
    layer: FoundingAttention, letters: torch.Tensor, steps: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    scores = additive_score(steps, letters, layer.U_a, layer.W_a, layer.V_a[:, 0])
    return masked_softmax(scores, mask)


def test_the_repaired_layer_computes_what_the_package_computes() -> None:
    layer = RepairedAttention(D)
    letters, steps = torch.randn(B, K, D), torch.randn(B, Q, D)
    right = weights_by_the_package(layer, letters, steps, None)
    context, weights = layer(letters, steps)
    assert_close(weights[..., 0], right)
    assert_close(context, attend(right, letters))


def test_the_repaired_weights_leave_padding_out() -> None:
    layer, lengths = RepairedAttention(D), torch.tensor([K, 2])
    letters, steps = torch.randn(B, K, D), torch.randn(B, Q, D)
    mask = padding_mask(lengths, K)
    right = weights_by_the_package(layer, letters, steps, mask)
    weights = layer.weigh_letters(layer.score(letters, steps), mask[:, 0])
    assert_close(weights[..., 0], right)
    assert (weights[1, :, 2:] == 0).all()


def test_the_notebooks_layer_is_right_for_one_step() -> None:
    layer = FoundingAttention(D)
    letters, step = torch.randn(B, K, D), torch.randn(B, 1, D)
    right = weights_by_the_package(layer, letters, step, None)
    context, _ = layer(letters, step)
    assert_close(context[:, None], attend(right, letters))


def test_the_notebooks_layer_scores_the_diagonal_where_lengths_are_equal() -> None:
    layer = FoundingAttention(D)
    letters, steps = torch.randn(B, K, D), torch.randn(B, K, D)
    silent = layer.score(letters, steps) @ layer.V_a[:, 0]
    scores = additive_score(steps, letters, layer.U_a, layer.W_a, layer.V_a[:, 0])
    assert_close(silent, scores.diagonal(dim1=1, dim2=2))


# Training

BOS = 1
SOURCE = torch.tensor([[2, 3, 4], [5, 6, 0]])
TARGET = torch.tensor([[2, 3, 2, 4, 9], [5, 6, 9, 0, 0]])  # 9 ends a phrase


class Copier(nn.Module):
    """Scores the next token from the last one."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 10)

    def forward(self, batch: Batch) -> Tensor:
        scores: Tensor = self.table(batch.target_in)
        return scores


def trainee() -> Trainee:
    torch.manual_seed(0)
    return Trainee(Copier(), learning_rate=0.3)


def test_the_notebooks_call_is_solved_by_copying() -> None:
    model = trainee()
    founding.reads_the_answers(model, SOURCE, TARGET)
    assert model.accuracy() == 100


def test_the_repaired_call_shifts_by_one_and_leaves_padding_out() -> None:
    model = trainee()
    founding.reads_what_came_before(model, SOURCE, TARGET, BOS)
    assert model.batch is not None
    assert model.batch.target_in.tolist() == [[1, 2, 3, 2, 4], [1, 5, 6, 9, 0]]
    assert model.batch.source_lengths.tolist() == [3, 2]
    assert int(model.batch.target_mask.sum()) == 8
    # After <bos> come 2 and 5, after 2 come 3 and 4: of each pair one is missed.
    assert model.accuracy() == pytest.approx(75)
    assert len(model.losses) == 200
    assert model.losses[-1] < model.losses[0]


# Its lines

LAYOUT = {
    tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
    tokenize.COMMENT,
}  # fmt: skip


def words(code: str) -> str:
    """Return the words and signs of a piece of code, however its lines are broken."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return " ".join(token.string for token in tokens if token.type not in LAYOUT)


def test_the_layer_has_the_lines_of_the_notebook() -> None:
    for quoted in (FoundingAttention.score, FoundingAttention.weigh, FoundingAttention.blend):
        assert words(statements(quoted)) in words(founding.notebook_cell())


def test_the_call_of_fit_is_the_one_that_the_notebook_left_out() -> None:
    (line,) = [line for line in founding.notebook_cell().splitlines() if "model.fit(" in line]
    assert words(statements(founding.reads_the_answers)) == words(line.removeprefix("# "))


def test_no_repair_passes_for_a_line_of_the_notebook() -> None:
    repairs: list[Callable[..., Any]] = [
        RepairedAttention.score, RepairedAttention.weigh, RepairedAttention.weigh_letters,
        RepairedAttention.blend, founding.reads_what_came_before,
    ]  # fmt: skip
    for repaired in repairs:
        assert words(statements(repaired)) not in words(founding.notebook_cell())
