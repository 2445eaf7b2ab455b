"""A race of several models, whose rules a reader makes."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bookkit.inputs import as_numbers, as_vector
from bookkit.playables.playable import Playable, playable


class Rule(NamedTuple):
    """Something that models have to have equally much of."""

    name: str  # what its button says
    unit: str
    limits: Sequence[float]  # from which a reader chooses, the smallest first
    longer: bool = (
        False  # whether a training within the limit may have more updates than the others
    )


class Training(NamedTuple):
    """A model as it came out of one training, and what this took."""

    name: str  # of the model
    costs: Sequence[float]  # one for each rule
    scores: Mapping[str, Sequence[Sequence[float]]]  # by what counts: (lengths, seeds), up to 100


def make_win(
    trainings: Sequence[Training],
    rules: Sequence[Rule],
    lengths: Sequence[tuple[int, int]],
    *,
    trained: int,
    caption: str = "",
) -> Playable:
    """Show a race to a reader, who says what is equal, which sentences test, and what counts.

    Args:
        trainings: of all models; one may have several, the shortest first.
        rules: what can be equal; the first is the updates, with one limit.
        lengths: the shortest and the longest sentence of each part of the test, in words.
        trained: the longest sentence in training; a part of the test has to end there.
        caption: the words below it.

    Raises:
        ValueError: costs or scores that are too few, or a limit within which there is no training.

    >>> rules = [Rule("updates", "updates", [10]), Rule("bytes", "bytes", [3, 8])]
    >>> runs = [Training("a", (10, 3), {"right": [[50, 60]]}),
    ...         Training("b", (10, 8), {"right": [[70, 55]]})]
    >>> make_win(runs, rules, [(1, 5)], trained=5)
    A race: a drawing to play with.
    """
    measures = list(trainings[0].scores)
    for number, one in enumerate(trainings):
        as_vector(one.costs, f"trainings[{number}].costs", len(rules))
        shapes = {as_numbers(one.scores[name], "scores").shape for name in measures}
        if {shape[0] for shape in shapes} != {len(lengths)}:
            raise ValueError(
                f"trainings[{number}].scores: got {shapes}, wanted ({len(lengths)}, seeds) each"
            )
    for place, rule in enumerate(rules):
        least = min(one.costs[place] for one in trainings)
        if rule.limits[0] < least:
            raise ValueError(f"rules[{place}].limits: got {rule.limits[0]}, wanted {least} or more")
    return playable(
        "make-win", "A race", caption=caption, lengths=[list(pair) for pair in lengths],
        trained=trained, measures=measures, rules=[rule._asdict() for rule in rules],
        trainings=[
            {"name": one.name, "costs": list(one.costs), "scores": [*one.scores.values()]}
            for one in trainings
        ],
    )  # fmt: skip
