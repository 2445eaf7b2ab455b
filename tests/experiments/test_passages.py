"""The passages that real models read are those whose hashes are stored."""

from hashlib import sha256

from experiments.texts import passages


def test_passages_are_the_stored_ones() -> None:
    found = passages()
    assert len({one.source for one in found}) == len(found) == 6
    assert all(sha256(one.text.encode()).hexdigest() == one.sha256 for one in found)
    assert all(9_000 < len(one.text) < 11_000 and one.year < 1927 for one in found)
