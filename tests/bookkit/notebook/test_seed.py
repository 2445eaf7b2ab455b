import pytest

from bookkit.notebook import page_seed


def test_the_shift_is_added_and_is_nothing_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BOOK_SEED_SHIFT", raising=False)
    assert (page_seed(), page_seed(7)) == (0, 7)
    monkeypatch.setenv("BOOK_SEED_SHIFT", "100")
    assert (page_seed(), page_seed(7)) == (100, 107)


def test_a_shift_that_is_no_number_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOK_SEED_SHIFT", "1.5")
    with pytest.raises(ValueError, match=r"BOOK_SEED_SHIFT: got '1\.5', wanted a whole number"):
        page_seed()
