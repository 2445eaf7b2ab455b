"""Choose noun phrases: determiner, adjectives, "of", "who" and "that"."""

from bookkit.data.grammar import lexicon as lex
from bookkit.data.grammar.budget import Budget, size
from bookkit.data.grammar.lexicon import Determiner, Noun, Pronoun, Tense, Verb, suits
from bookkit.data.grammar.menu import Menu
from bookkit.data.grammar.rules import determiner_allowed, is_vague, may_say
from bookkit.data.grammar.trees import Clause, NounPhrase

PEOPLE = tuple(noun for noun in lex.NOUNS if noun.kind == "person")
TRANSITIVE = tuple(verb for verb in lex.VERBS if verb.nouns)
INTRANSITIVE = tuple(verb for verb in lex.VERBS if not verb.nouns)
_TWICE: tuple[Tense, ...] = ("present", "present", "past", "past", "future", "future")
TENSES: tuple[Tense, ...] = (*_TWICE, "progressive")

_DETERMINERS = (
    9 * (lex.THE,) + 4 * (lex.A,) + 2 * (lex.THIS, lex.THAT, lex.EVERY) + (lex.MY, lex.HIS, lex.HER)
)
_OF_KIN = 4 * (lex.THE,) + 3 * (lex.MY, lex.HIS, lex.HER) + (lex.A, lex.THIS, lex.THAT, lex.EVERY)


class Phrases:
    """Invents noun phrases."""

    def __init__(self, budget: Budget, menu: Menu) -> None:
        self._budget, self._menu = budget, menu

    def phrase(
        self, noun: Noun, *, plural: bool | None = None, definite: bool = False,
        verb: Verb | None = None,
    ) -> NounPhrase:  # fmt: skip
        """Choose what is said about a noun, whose own two words are paid for.

        Args:
            noun: the noun.
            plural: its number; None leaves it to chance.
            definite: whether to avoid "a" and "every", as in negations, which would ask for
                "ningún".
            verb: of the clause; without it there is no relative clause.
        """
        if plural is None:
            plural = self._budget.dice.yes(0.3)
        phrase = NounPhrase(noun, plural, self._determiner(noun, plural, definite))
        self._add_adjectives(phrase)
        if phrase.determiner is lex.THE:
            if self._menu.owners[noun] and self._budget.wants(3, 0.3):
                phrase.owner = self._owner(noun)
            elif verb is not None and self._budget.wants(3, 0.6):
                self._add_relative(phrase, verb)
        return phrase

    def thing(
        self, verb: Verb, person: int, subject: Noun | Pronoun | None
    ) -> Noun | Pronoun | None:
        """Choose the object of a verb, other than its subject; None for an intransitive verb."""
        if not verb.nouns:
            return None
        if suits(verb, PEOPLE[0]) and self._budget.dice.yes(0.25):
            pronoun = self._budget.dice.pick(lex.PRONOUNS)
            if self.suits_context(pronoun) and (pronoun is not lex.I or person != lex.FIRST):
                return pronoun
        return self._budget.noun(self._menu.objects[verb], apart=subject)

    def thing_phrase(
        self, thing: Noun | Pronoun | None, verb: Verb, negative: bool, *, relative: bool = True
    ) -> NounPhrase | Pronoun | None:
        """Choose what is said about an object; with `relative` it may have a relative clause."""
        if not isinstance(thing, Noun):
            return thing
        definite = negative or is_vague(verb, thing)
        return self.phrase(thing, definite=definite, verb=verb if relative else None)

    def suits_context(self, pronoun: Pronoun) -> bool:
        """Tell whether a pronoun's translation is certain.

        "They" and "them" are masculine here, and so avoided where they could mean women.
        """
        return pronoun is not lex.THEY or not self._budget.feminine

    def agreement(self, subject: Noun | Pronoun) -> tuple[int, bool]:
        """Choose the number of a noun; return its person, as in `Persons`, and its gender."""
        if isinstance(subject, Pronoun):
            return subject.person, subject.feminine
        plural = self._budget.dice.yes(0.35)
        return lex.PLURAL if plural else lex.SINGULAR, subject.feminine

    def _determiner(self, noun: Noun, plural: bool, definite: bool) -> Determiner:
        kin = noun.kind == "person" and noun.owned
        while True:
            determiner = self._budget.dice.pick(_OF_KIN if kin else _DETERMINERS)
            if determiner_allowed(determiner, noun, plural, definite):
                return determiner

    def _add_adjectives(self, phrase: NounPhrase) -> None:
        wants, pick = self._budget.wants, self._budget.dice.pick
        after, before = self._menu.after[phrase.noun], self._menu.before[phrase.noun]
        if after and wants(1, 0.5):
            phrase.adjective = pick(after)
            phrase.very = phrase.adjective.gradable and wants(1, 0.2)
        taken = phrase.adjective.scale if phrase.adjective else None
        before = [adjective for adjective in before if adjective.scale != taken]
        if before and wants(1, 0.15):
            phrase.before = pick(before)

    def _owner(self, noun: Noun) -> NounPhrase:
        owner = self._budget.noun(self._menu.owners[noun])
        self._budget.note(owner)
        plural = self._budget.dice.yes(0.2)
        phrase = NounPhrase(owner, plural, self._determiner(owner, plural, definite=True))
        if self._menu.after[owner] and self._budget.wants(1, 0.3):
            phrase.adjective = self._budget.dice.pick(self._menu.after[owner])
        return phrase

    def _add_relative(self, phrase: NounPhrase, main: Verb) -> None:
        """Add "who sleeps" to a being, "that the boy bought" to a thing, unless it is too long.

        "The man whom the boy saw" is left out: Spanish has "que", "al que" and "a quien".
        """
        being = phrase.noun.kind in ("person", "animal")
        room = self._budget.room + 3
        tense = self._budget.dice.pick(TENSES)
        negative = self._budget.dice.yes(0.15)
        self._budget.room = room - 1
        choose = self._of_subject if being else self._of_object
        phrase.relative = choose(phrase, main, tense, negative)
        if phrase.relative is None:
            self._budget.room = room

    def _of_subject(
        self, phrase: NounPhrase, main: Verb, tense: Tense, negative: bool
    ) -> Clause | None:
        # Who sleeps does not run: only one of the two verbs is intransitive.
        verbs = lex.VERBS if main.nouns else TRANSITIVE
        verb = self._budget.dice.pick(verbs)
        person = phrase.noun.kind == "person"
        if verb is main or not may_say(verb, tense, person=person):
            return None
        thing = self.thing(verb, phrase.person, phrase.noun)
        self._budget.room -= verb_size(verb, tense, negative) + size(thing)
        if self._budget.room < 0:
            return None
        self._budget.note(thing)
        clause = Clause(None, phrase.person, phrase.feminine, tense, negative, verb)
        clause.object = self.thing_phrase(thing, verb, negative, relative=False)
        return clause

    def _of_object(
        self, phrase: NounPhrase, main: Verb, tense: Tense, negative: bool
    ) -> Clause | None:
        dice = self._budget.dice
        verb = dice.pick(self._menu.verbs[phrase.noun] or [main])
        if verb is main or not may_say(verb, tense, person=True):
            return None
        subject = lex.I if dice.yes(0.3) else self._budget.noun(PEOPLE)
        self._budget.room -= size(subject) + verb_size(verb, tense, negative)
        if self._budget.room < 0:
            return None
        self._budget.note(subject)
        person, feminine = self.agreement(subject)
        clause = Clause(None, person, feminine, tense, negative, verb)
        clause.subject = (
            self.phrase(subject, plural=person == lex.PLURAL, definite=negative)
            if isinstance(subject, Noun)
            else subject
        )
        return clause


def verb_size(verb: Verb, tense: Tense, negative: bool) -> int:
    """Return the number of English words of a verb with its auxiliary, "not" and particle."""
    auxiliary = negative or tense in ("future", "progressive")
    return 1 + auxiliary + negative + (verb.particle is not None)
