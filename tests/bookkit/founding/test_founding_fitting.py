"""A decoder that reads its answers copies them; one that reads what came before cannot."""

import pytest
import torch
from torch import Tensor, nn

from bookkit.founding import Trainee, reads_the_answers, reads_what_came_before
from companion.data.batching import Batch

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
    reads_the_answers(model, SOURCE, TARGET)
    assert model.accuracy() == 100


def test_the_repaired_call_shifts_by_one_and_leaves_padding_out() -> None:
    model = trainee()
    reads_what_came_before(model, SOURCE, TARGET, BOS)
    assert model.batch is not None
    assert model.batch.target_in.tolist() == [[1, 2, 3, 2, 4], [1, 5, 6, 9, 0]]
    assert model.batch.source_lengths.tolist() == [3, 2]
    assert int(model.batch.target_mask.sum()) == 8
    # After <bos> come 2 and 5, after 2 come 3 and 4: of each pair one is missed.
    assert model.accuracy() == pytest.approx(75)
    assert len(model.losses) == 200
    assert model.losses[-1] < model.losses[0]
