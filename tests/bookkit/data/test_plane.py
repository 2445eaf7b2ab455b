"""The running sentence in the plane: what the pages rely on when they draw it."""

from __future__ import annotations

import numpy as np

from bookkit.data.plane import plane_words


def test_the_words_are_those_of_the_running_sentence() -> None:
    assert " ".join(plane_words()[0]) == "she works in the new house"


def test_no_two_words_share_an_arrow() -> None:
    vectors = plane_words()[1]
    assert vectors.shape == (6, 2)
    assert len(np.unique(vectors, axis=0)) == 6
    assert (np.linalg.norm(vectors, axis=-1) > 0).all()


def test_a_caller_who_changes_the_vectors_changes_only_a_copy() -> None:
    plane_words()[1][:] = 0
    assert plane_words()[1].any()
