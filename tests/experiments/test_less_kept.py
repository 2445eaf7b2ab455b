"""What the study of a given model that keeps less asks is what it says."""

from types import SimpleNamespace
from typing import Any, cast

import torch

from companion.models.tokenizer import Tokenizer
from experiments.less_kept.study import NAMES, best, in_turn, written
from experiments.real_text.study import attend

LETTERS = cast("Tokenizer", SimpleNamespace(encode=lambda text: [ord(one) for one in text]))


def test_every_number_of_the_first_list_is_asked_for_in_the_second() -> None:
    text = written(LETTERS, "p" * 300, seed=3)
    said = "".join(map(chr, text.tokens.tolist()))
    first, _, again = said.partition("again.")
    assert set(said[text.passage]) == {"p"}
    found = {}
    for one in text.asked:
        name = said[: one.start].rpartition("\n")[2].removesuffix(": ")
        found[name] = said[one]
        assert f"\n{name}: {said[one]}\n" in first
        assert one.start > len(first)
    assert sorted(found) == sorted(NAMES)
    assert len(set(found.values())) == len(NAMES)
    assert [*found] != [*NAMES]
    assert again.count("\n") == len(NAMES) + 1


def test_the_best_keys_are_chosen_for_each_query_of_each_head() -> None:
    draw = torch.Generator().manual_seed(4)
    query, key, value = (torch.randn(1, n, 9, 5, generator=draw) for n in (6, 3, 3))
    mask = torch.ones(9, 9, dtype=torch.bool).tril()
    given: tuple[Any, ...] = query, key, value, mask
    torch.testing.assert_close(best(9)(*given), attend(*given))
    scores = (query @ key.repeat_interleave(2, 1).mT).masked_fill(~mask, -torch.inf)
    chosen = scores.argmax(-1)[..., None].expand(-1, -1, -1, 5)
    wanted = value.repeat_interleave(2, 1).gather(2, chosen)
    torch.testing.assert_close(best(1)(*given), wanted)


def test_layers_take_their_turns() -> None:
    ways = [lambda *_, n=n: torch.tensor(n) for n in range(2)]
    together = in_turn(ways)
    nothing = (torch.zeros(1),) * 4
    assert [int(together(*nothing)) for _ in range(5)] == [0, 1, 0, 1, 0]
