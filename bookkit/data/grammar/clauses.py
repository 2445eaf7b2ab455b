"""Choose clauses, one after the other, that go together."""

from typing import NamedTuple

from bookkit.data.grammar import lexicon as lex
from bookkit.data.grammar import rules
from bookkit.data.grammar.budget import Budget, DeadEndError, size
from bookkit.data.grammar.dice import Dice
from bookkit.data.grammar.lexicon import Noun, Pronoun, Tense, Verb, suits
from bookkit.data.grammar.menu import Menu
from bookkit.data.grammar.phrases import INTRANSITIVE, TENSES, TRANSITIVE, Phrases, verb_size
from bookkit.data.grammar.trees import Clause, NounPhrase, Sentence

MAX_CLAUSES = 6

_MAX_CLAUSE = 13
_TRIES = 12
_BEINGS = tuple(noun for noun in lex.NOUNS if noun.kind in ("person", "animal"))
_ADJUNCTS = {p: tuple(n for n in lex.NOUNS if suits(p, n)) for p in lex.PREPOSITIONS}


class _Core(NamedTuple):
    """The words that a clause cannot do without, and their number; no verb stands for "is"."""

    subject: Noun | Pronoun | None
    person: int
    feminine: bool
    tense: Tense
    negative: bool
    verb: Verb | None
    thing: Noun | Pronoun | None
    size: int


class Speaker:
    """Invents sentences."""

    def __init__(self, dice: Dice, menu: Menu) -> None:
        self._dice, self._menu = dice, menu
        self._budget = Budget(dice)
        self._phrases = Phrases(self._budget, menu)

    def sentence(self, room: int) -> Sentence:
        """Choose a sentence of at most, and often nearly, `room` English words.

        Raises:
            DeadEndError: the choices made leave nothing to go on with.
        """
        self._budget.open_sentence()
        sentence: Sentence = []
        while room >= 2 + bool(sentence) and len(sentence) < MAX_CLAUSES:
            conjunction = None
            if sentence:
                conjunction = self._dice.pick(["and", *rules.conjunctions(sentence)])
            room -= conjunction is not None
            share = self._share(room)
            self._budget.open_clause(share)
            sentence.append((conjunction, self._clause(conjunction, sentence)))
            room -= share - self._budget.room
        return sentence

    def _share(self, room: int) -> int:
        if room <= 6 or (room <= _MAX_CLAUSE and self._dice.yes(0.5)):
            return room
        return self._dice.between(4, min(_MAX_CLAUSE, room - 3))

    def _clause(self, conjunction: str | None, sentence: Sentence) -> Clause:
        core = self._fitting_core(conjunction, sentence)
        self._budget.note(core.subject)
        self._budget.note(core.thing)
        self._budget.spend(core.size)
        clause = Clause(None, core.person, core.feminine, core.tense, core.negative, core.verb)
        clause.contrast = conjunction in ("and", "but")
        clause.subject = self._subject(core)
        if core.verb is None:
            self._add_predicate(clause)
            return clause
        clause.object = self._phrases.thing_phrase(core.thing, core.verb, core.negative)
        if not clause.closed:
            self._add_circumstances(clause, core.verb, conjunction, sentence)
        return clause

    # The core

    def _fitting_core(self, conjunction: str | None, sentence: Sentence) -> _Core:
        for _ in range(_TRIES):
            core = self._core(conjunction, sentence)
            if core is not None and core.size <= self._budget.room:
                return core
        raise DeadEndError

    def _core(self, conjunction: str | None, sentence: Sentence) -> _Core | None:
        before = sentence[-1][1] if sentence else None
        negative = self._negative(conjunction, before)
        if before is not None and self._shares_subject(conjunction, before, negative):
            return self._shared_core(before, negative)
        pronoun = self._pronoun(sentence) if self._dice.yes(0.3) else None
        if conjunction not in ("when", "while") and self._dice.yes(0.12):
            return self._predicative_core(pronoun or self._budget.noun(lex.NOUNS), negative)
        subject = pronoun or self._budget.noun(_BEINGS)
        tense = self._tense(conjunction, before)
        verb = self._dice.pick(TRANSITIVE if self._dice.yes(0.7) else INTRANSITIVE)
        person = isinstance(subject, Pronoun) or subject.kind == "person"
        if (
            not rules.may_say(verb, tense, person=person)
            or (before is not None and verb is before.verb)
            or (conjunction == "while" and verb.gerund is None)
            or (conjunction == "when" and tense == "past" and not verb.event)
        ):
            return None
        return self._core_of(subject, self._phrases.agreement(subject), tense, negative, verb)

    def _core_of(
        self, subject: Noun | Pronoun | None, agrees: tuple[int, bool], tense: Tense,
        negative: bool, verb: Verb,
    ) -> _Core:  # fmt: skip
        person, feminine = agrees
        thing = self._phrases.thing(verb, person, subject)
        words = size(subject) + verb_size(verb, tense, negative) + size(thing)
        return _Core(subject, person, feminine, tense, negative, verb, thing, words)

    def _shares_subject(self, conjunction: str | None, before: Clause, negative: bool) -> bool:
        """Decide on "sees the dog and sleeps", "sees the dog but does not sleep".

        Two negations would ask for "ni", and "not ... but" for "sino".
        """
        if before.subject is None or before.verb is None or before.closed or before.negative:
            return False
        joins = conjunction == "and" or (conjunction == "but" and negative)
        return joins and self._dice.yes(0.4)

    def _shared_core(self, before: Clause, negative: bool) -> _Core | None:
        verb = self._dice.pick(TRANSITIVE if not before.object else TRANSITIVE + INTRANSITIVE)
        person = isinstance(before.subject, Pronoun) or (
            before.subject is not None and before.subject.noun.kind == "person"
        )
        if verb is before.verb or not rules.may_say(verb, before.tense, person=person):
            return None
        agrees = before.person, before.feminine
        return self._core_of(None, agrees, before.tense, negative, verb)

    def _predicative_core(self, subject: Noun | Pronoun, negative: bool) -> _Core:
        person, feminine = self._phrases.agreement(subject)
        words = size(subject) + 2 + negative
        return _Core(subject, person, feminine, "present", negative, None, None, words)

    def _negative(self, conjunction: str | None, before: Clause | None) -> bool:
        contrary = conjunction == "but" and before is not None and before.negative
        if conjunction in ("when", "while") or contrary:
            return False
        return self._dice.yes(0.2)

    def _tense(self, conjunction: str | None, before: Clause | None) -> Tense:
        tense = self._dice.pick(TENSES)
        if before is None:
            return tense
        if conjunction == "when":
            return before.tense
        if conjunction == "while":
            return self._dice.pick(("present", "progressive"))
        # A cause does not come after its effect.
        late = conjunction == "because" and rules.TIME[tense] > rules.TIME[before.tense]
        return before.tense if late or self._dice.yes(0.5) else tense

    def _pronoun(self, sentence: Sentence) -> Pronoun | None:
        """Choose a pronoun that cannot be taken for an earlier subject.

        For the same subject Spanish would leave the pronoun out.
        """
        pronoun = self._dice.pick((lex.I, *lex.PRONOUNS))
        clear = rules.is_clear(pronoun, sentence) and self._phrases.suits_context(pronoun)
        return pronoun if clear else None

    # What is added to it

    def _subject(self, core: _Core) -> NounPhrase | Pronoun | None:
        if not isinstance(core.subject, Noun):
            return core.subject
        return self._phrases.phrase(
            core.subject,
            plural=core.person == lex.PLURAL,
            definite=core.negative or core.verb is None,
            verb=core.verb,
        )

    def _add_predicate(self, clause: Clause) -> None:
        if isinstance(clause.subject, NounPhrase):
            said = (clause.subject.before, clause.subject.adjective)
            scales = {adjective.scale for adjective in said if adjective}
            fitting = self._menu.predicative[clause.subject.noun]
            choices = [adjective for adjective in fitting if adjective.scale not in scales]
        else:
            choices = [a for a in lex.ADJECTIVES if rules.suits_pronoun(a, clause.subject)]
        if not choices:
            raise DeadEndError
        clause.adjective = self._dice.pick(choices)
        clause.very = clause.adjective.gradable and self._budget.wants(1, 0.4)

    def _add_circumstances(
        self, clause: Clause, verb: Verb, conjunction: str | None, sentence: Sentence
    ) -> None:
        thing = clause.object.noun if isinstance(clause.object, NounPhrase) else None
        placed = thing is not None and thing.kind == "place"
        if not placed and self._budget.wants(3, 0.4 if verb.nouns else 0.8):
            preposition = self._dice.pick(rules.prepositions(verb))
            noun = self._budget.noun(_ADJUNCTS[preposition])
            self._budget.note(noun)
            clause.adjunct = preposition, self._phrases.phrase(noun, definite=clause.negative)
        said = any(other.adverb and other.tense == clause.tense for _, other in sentence)
        if clause.tense in lex.ADVERBS and not said and conjunction not in ("when", "while"):
            clause.adverb = self._budget.wants(1, 0.4)
