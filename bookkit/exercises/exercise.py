"""Exercises as tables: the right answer, the cases on which answers are compared, the mistakes.

Each exercise is called with a reader's answer. It prints "Right.", or raises an `AssertionError`
with the hint that the reader's mistake deserves: that of the listed mistake which gives the same.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

import numpy as np

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Mistakes, Sign, as_parts, as_verdict, called, fail


@dataclass(eq=False, repr=False, kw_only=True)
class Exercise(ABC):
    """What all exercises are: something is asked, and answers are judged."""

    asked: str = field(default="", kw_only=False)  # what is to be handed in

    def __post_init__(self) -> None:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = [name.replace(" ", "_") for name in self.names]
        self.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])
        self.__doc__ = self.asked

    def __call__(self, *answers: Any, **by_name: Any) -> None:
        """Print "Right." if the answers are right.

        Raises:
            AssertionError: they are not; the message is a hint at the cause.
        """
        self.judge(*self.__signature__.bind(*answers, **by_name).args)
        print("Right.")

    @property
    def names(self) -> tuple[str, ...]:
        """What the answers are called that the exercise takes."""
        return ("answer",)

    @abstractmethod
    def judge(self, *answers: Any) -> None:
        """Raise an `AssertionError` with a hint, unless the answers are right."""

    @abstractmethod
    def right_answers(self) -> tuple[Any, ...]:
        """Return answers that pass."""

    @abstractmethod
    def wrong_answers(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Yield each hint with answers that deserve it."""


@dataclass(eq=False, repr=False, kw_only=True)
class Compared(Exercise):
    """An answer that is compared with the right one.

    >>> Value(right=6, mistakes={"a sum": 5}, otherwise="got {got:g}").judge(7)
    Traceback (most recent call last):
    AssertionError: got 7
    """

    # The right answer: a number, an array or a tensor; or a text, a truth value, a list or a set,
    # which has to be equal. A whole number must agree to nine digits, whatever the tolerances.
    right: Any
    # Under each hint the mistake that deserves it; see `answers.Mistakes`. The first one whose
    # result is the answer counts. One that stops with an error gives no result.
    mistakes: Mistakes = field(default_factory=dict)
    # Wrong answers for which `otherwise` or `read` has words, under a part of these
    examples: Mistakes = field(default_factory=dict)
    # From the answer to what is compared, followed by the case; it turns down what is of another
    # kind
    read: Answer | None = None
    # What stands before a hint, and before a message about an array; {} stands for a part of the
    # case, {when} for its name
    where: str = ""
    axes: str = ""  # the shape that was asked for, in letters
    # The message on an unknown mistake, in which {got} stands for the answer and {wanted} for the
    # right one; or what makes one, of the answer and the parts of the case
    otherwise: str | Callable[..., str] = "the shape is right, the numbers are not"
    rtol: float = 1e-5  # how far numbers may be off, as a part of the right ones
    atol: float = 1e-8  # how far they may be off besides

    def compare(self, got: Any, case: Sequence[Any] = (), when: str = "") -> None:
        """Accept what the right answer gives for a case, and explain any other result."""
        wanted = self.right(*case) if callable(self.right) else self.right
        if self.read:
            got, wanted = self.read(got, *case), self.read(wanted, *case)
        wanted = wanted.item() if isinstance(wanted, np.generic) else wanted
        before = self.where.format(*case, when=when) if hasattr(wanted, "shape") else ""
        result = answers.like(wanted, got, before, self.axes)
        where = self.where.format(*case, got=result, when=when)
        whole = isinstance(wanted, int) and not isinstance(wanted, bool)
        off = (1e-9, 0.0) if whole else (self.rtol, self.atol)
        if answers.same(result, wanted, *off):
            return
        self.hint_at(result, case, where, off)
        if np.shape(result) != np.shape(wanted) and hasattr(wanted, "shape"):
            axes = f"{self.axes}, " if self.axes else ""
            fail(f"{where}got shape {np.shape(result)}, wanted {axes}{tuple(wanted.shape)}")
        said = self.otherwise if isinstance(self.otherwise, str) else self.otherwise(result, *case)
        fail(where + said.format(*case, got=result, wanted=wanted, when=when).strip())

    def hint_at(
        self, result: Any, case: Sequence[Any], where: str, off: tuple[float, float]
    ) -> None:
        """Refuse a result that one of the mistakes gives, with the hint for that mistake."""

        def shows(mistake: Any) -> bool:
            try:
                if isinstance(mistake, Sign):
                    return bool(mistake.of(result, *case))
                wrong = mistake(*case) if callable(mistake) else mistake
                return answers.same(result, self.read(wrong, *case) if self.read else wrong, *off)
            except Exception:
                return False

        for hint, mistake in self.mistakes.items():
            with np.errstate(all="ignore"):
                if any(map(shows, answers.several(mistake))):
                    fail(f"{where}{hint}")

    def right_answers(self) -> tuple[Any, ...]:
        """Return the right answer."""
        return (self.right,)

    def wrong_answers(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Yield each hint with a mistake that deserves it."""
        for hint, mistake in [*self.mistakes.items(), *self.examples.items()]:
            for one in answers.several(mistake):
                yield hint, (one.example if isinstance(one, Sign) else one,)


@dataclass(eq=False, repr=False, kw_only=True)
class Value(Compared):
    """A value that is worked out by hand; its mistakes are wrong values."""

    def judge(self, *answers: Any) -> None:
        """Compare the value."""
        (got,) = answers
        self.compare(got)


@dataclass(eq=False, repr=False, kw_only=True)
class Function(Compared):
    """A function that is written; its mistakes are wrong functions."""

    # The arguments of each call, under a name where the messages need one
    cases: Sequence[Sequence[Any]] | Mapping[str, Sequence[Any]]
    # If the function gives several results, the name of each with its mistakes, which are functions
    # that give this one, or all. `mistakes` are then those of them together.
    parts: Mapping[str, Mistakes] = field(default_factory=dict)
    kind: str = ""  # what the results are together, in words
    why: str = ""  # a hint at what makes the answer stop, if it does
    untouched: str = ""  # a hint if the answer writes into what it is given

    def judge(self, *answers: Any) -> None:
        """Compare what the function gives for every case."""
        (answer,) = answers
        cases = self.cases
        for when, case in cases.items() if isinstance(cases, Mapping) else zip(repeat(""), cases):
            self.compare(called(answer, *case, why=self.why, untouched=self.untouched), case, when)

    def compare(self, got: Any, case: Sequence[Any] = (), when: str = "") -> None:
        """Compare a result, or each of several."""
        if not self.parts:
            super().compare(got, case, when)
            return
        parts = tuple(as_parts(got, len(self.parts), self.kind))
        self.hint_at(parts, case, "", (self.rtol, self.atol))
        for one, part in zip(self._parts(), parts, strict=True):
            one.compare(part, case, when)

    def wrong_answers(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Yield each hint with a function that deserves it."""
        yield from super().wrong_answers()
        for place, part in enumerate(self._parts()):
            for hint, (wrong,) in part.wrong_answers():
                yield hint, (self._with(place, wrong),)

    def _parts(self) -> Iterator[Function]:
        """Yield an exercise for each of several results."""
        for place, (name, mistakes) in enumerate(self.parts.items()):
            only = {
                hint: tuple(self._only(place, one) for one in answers.several(mistake))
                for hint, mistake in mistakes.items()
            }
            yield replace(
                self, right=self._only(place, self.right), mistakes=only, examples={}, parts={},
                where=f"{self.where}{name}: ",
            )  # fmt: skip

    def _only(self, place: int, wrong: Any) -> Any:
        """Return a function that gives one of several results."""

        def function(*case: Any) -> Any:
            given = wrong(*case)
            whole = type(given) is tuple and len(given) == len(self.parts)
            return given[place] if whole else given

        return wrong if isinstance(wrong, Sign) else function

    def _with(self, place: int, wrong: Answer) -> Answer:
        """Return the right function with one result of another."""

        def function(*case: Any) -> tuple[Any, ...]:
            parts = list(self.right(*case))
            parts[place] = wrong(*case)
            return tuple(parts)

        return function


@dataclass(eq=False, repr=False, kw_only=True)
class Verdict(Exercise):
    """A test that is written: it is tried on suspects, some of which are sound."""

    # The arguments of each call, the verdict that is right, and a hint if the answer gives another
    suspects: Sequence[tuple[tuple[Any, ...], Any, str]]
    ask: Answer = called  # from the answer and the arguments to what the answer says
    read: Answer = as_verdict  # from what it says to a verdict
    give: Answer = lambda verdict: verdict  # from a verdict to what an answer does that gives it
    # The message, in which {hint} stands for the hint, {got} and {wanted} for the verdicts, and {}
    # for a part of the arguments
    says: str = "{hint}"
    why: str = ""  # as of a function

    def judge(self, *answers: Any) -> None:
        """Compare the verdict on every suspect."""
        why = {"why": self.why} if self.why else {}
        for given, wanted, hint in self.suspects:
            got = self.read(self.ask(answers[0], *given, **why))
            if got != wanted:
                fail(self.says.format(*given, got=got, wanted=wanted, hint=hint))

    def right_answers(self) -> tuple[Any, ...]:
        """Return a test that knows the verdicts."""
        return (self._but(len(self.suspects)),)

    def wrong_answers(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Yield each hint with a test that is wrong about one suspect."""
        for place, (_, _, hint) in enumerate(self.suspects):
            yield hint, (self._but(place),)

    def _but(self, place: int) -> Answer:
        """Return a test that knows all verdicts but one; it can be judged once."""
        verdicts = [wanted for _, wanted, _ in self.suspects]
        others = [next(other for other in verdicts if other != one) for one in verdicts]
        known = iter([*verdicts[:place], *others[place:]])
        return lambda *_: self.give(next(known))


@dataclass(eq=False, repr=False, kw_only=True)
class Several(Exercise):
    """Several answers, of which each is judged alone."""

    questions: Mapping[str, Exercise]  # under the name of each answer an exercise that takes it

    def __init__(self, asked: str, **questions: Exercise) -> None:
        self.asked, self.questions = asked, questions
        self.__post_init__()

    @property
    def names(self) -> tuple[str, ...]:
        """What the answers are called."""
        return tuple(self.questions)

    def judge(self, *answers: Any) -> None:
        """Judge one after the other; the name of an answer stands before the hint."""
        for (name, question), answer in zip(self.questions.items(), answers, strict=True):
            try:
                question.judge(answer)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from error.__cause__

    def right_answers(self) -> tuple[Any, ...]:
        """Return one right answer for each."""
        return tuple(answer for one in self.questions.values() for answer in one.right_answers())

    def wrong_answers(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Yield each hint with answers of which one deserves it, and the others are right."""
        for place, question in enumerate(self.questions.values()):
            for hint, (wrong,) in question.wrong_answers():
                answers = list(self.right_answers())
                answers[place] = wrong
                yield hint, tuple(answers)


@dataclass(eq=False, repr=False, kw_only=True)
class Judged(Exercise):
    """Answers that belong together, with a check that is written out."""

    # Raises an `AssertionError` with a hint, unless the answers are right. Its parameters are the
    # names of the answers.
    by: Callable[..., None]
    right: tuple[Any, ...]  # answers that pass
    mistakes: Mapping[str, tuple[Any, ...]]  # under a part of each hint answers that deserve it

    @property
    def names(self) -> tuple[str, ...]:
        """What the answers are called."""
        return tuple(inspect.signature(self.by).parameters)

    def judge(self, *answers: Any) -> None:
        """Let the check judge them together."""
        self.by(*answers)

    def right_answers(self) -> tuple[Any, ...]:
        """Return the right answers."""
        return self.right

    def wrong_answers(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Yield each hint with answers that deserve it."""
        yield from self.mistakes.items()
