"""Rankings: tau against scipy, what one word is worth, and the first word."""

import pytest
import torch
from scipy import stats
from torch import Generator

from companion.interpret import kendall_tau, top_agreement

GENERATOR = Generator().manual_seed(3)
A = torch.rand(4, 3, 7, generator=GENERATOR, dtype=torch.float64)
B = torch.rand(4, 3, 7, generator=GENERATOR, dtype=torch.float64)
TIED = torch.randint(3, (4, 3, 7), generator=GENERATOR).double()


def test_tau_is_that_of_scipy() -> None:
    for other in (B, TIED, A, -A):
        wanted = [
            [stats.kendalltau(a, b).statistic for a, b in zip(first, second, strict=True)]
            for first, second in zip(A.numpy(), other.numpy(), strict=True)
        ]
        torch.testing.assert_close(kendall_tau(A, other), torch.tensor(wanted).double())
    assert kendall_tau(A, torch.ones_like(A)).isnan().all()  # a ranking without ranks


def test_words_that_the_mask_leaves_out_do_not_count() -> None:
    mask = torch.arange(7) < 5
    torch.testing.assert_close(kendall_tau(A, B, mask), kendall_tau(A[..., :5], B[..., :5]))
    last = A.clone()
    last[..., 6] = 2.0
    assert top_agreement(last, A, mask).all()
    assert not top_agreement(last, A.index_fill(-1, torch.tensor([6]), -1.0)).any()


def test_one_word_that_both_put_first_is_worth_two_over_n() -> None:
    n = 9
    first = torch.rand(20_000, n, generator=Generator().manual_seed(4))
    second = torch.rand(20_000, n, generator=Generator().manual_seed(5))
    first[:, 2] = second[:, 2] = 2.0
    assert top_agreement(first, second).all()
    assert kendall_tau(first, second).mean().item() == pytest.approx(2 / n, abs=0.01)


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match=r"b: got shape \(3, 7\), wanted \(4, 3, 7\)"):
        kendall_tau(A, B[0])
    with pytest.raises(TypeError, match="mask: got dtype"):
        top_agreement(A, B, torch.ones(7))
