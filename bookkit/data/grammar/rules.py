"""What may be said, as rules on trees: agreement is in the words, these say what goes together.

`clauses` and `phrases` choose within these rules, some of which they ask; here they are asked of a
tree that somebody else made. One is left out: where "they" and "them" are avoided because they
could mean women.
"""

from collections.abc import Iterator

from bookkit.data.grammar import lexicon as lex
from bookkit.data.grammar.lexicon import Adjective, Determiner, Noun, Pronoun, Tense, Verb, suits
from bookkit.data.grammar.menu import menu
from bookkit.data.grammar.trees import Clause, NounPhrase, Sentence

_MAN = next(noun for noun in lex.NOUNS if noun.name == "man")
TIME: dict[Tense, int] = {"past": 0, "present": 1, "progressive": 1, "future": 2}
_BEINGS = ("person", "animal")


def clause_follows(clause: Clause, conjunction: str | None, said: Sentence) -> bool:
    """Tell whether a clause may follow others, with its conjunction; the first has none."""
    nouns = list(_nouns(clause))
    if len(set(nouns)) < len(nouns):
        return False
    allowed = _predicate_allowed if clause.verb is None else _action_allowed
    if not allowed(clause):
        return False
    if not said:
        return clause.subject is not None
    return conjunction is not None and _joins(clause, conjunction, said)


# One clause


def _predicate_allowed(clause: Clause) -> bool:
    """Ask of "the house is big": is it definite, and does the adjective suit its noun?"""
    subject, adjective = clause.subject, clause.adjective
    if adjective is None or (clause.very and not adjective.gradable):
        return False
    if isinstance(subject, NounPhrase):
        scales = {said.scale for said in (subject.before, subject.adjective) if said}
        return (
            _phrase_allowed(subject, definite=True)
            and adjective in menu(held_out=True).predicative[subject.noun]
            and adjective.scale not in scales
        )
    return suits_pronoun(adjective, subject)


def suits_pronoun(adjective: Adjective, subject: Pronoun | None) -> bool:
    """Tell whether an adjective may describe a person whom a pronoun names."""
    neutral = adjective.spanish[0] == adjective.spanish[1]
    personal = adjective.predicative and suits(adjective, _MAN)
    # "I am old" and "they are old" would leave the gender open.
    return personal and (neutral or subject not in (lex.I, lex.THEY))


def _action_allowed(clause: Clause) -> bool:
    """Ask of a clause with a verb: who does it, to what, where and when?"""
    verb, subject = clause.verb, clause.subject
    assert verb is not None
    if isinstance(subject, NounPhrase):
        if subject.noun.kind not in _BEINGS:
            return False
        if not _phrase_allowed(subject, definite=clause.negative, main=verb):
            return False
    if subject is not None and not may_say(verb, clause.tense, person=_is_person(subject)):
        return False
    if not _object_allowed(clause, verb, subject):
        return False
    if clause.closed:
        return clause.adjunct is None and not clause.adverb
    return clause.adjunct is None or _adjunct_allowed(clause, verb, *clause.adjunct)


def _object_allowed(
    clause: Clause, verb: Verb, subject: NounPhrase | Pronoun | None, *, relative: bool = True
) -> bool:
    thing = clause.object
    if thing is None:
        return not verb.nouns
    if isinstance(thing, Pronoun):
        return suits(verb, _MAN) and (thing is not lex.I or clause.person != lex.FIRST)
    definite = clause.negative or is_vague(verb, thing.noun)
    return thing.noun in menu(held_out=True).objects[verb] and _phrase_allowed(
        thing, definite=definite, main=verb if relative else None
    )


def may_say(verb: Verb, tense: Tense, *, person: bool) -> bool:
    """Tell whether a verb has a tense, and suits a subject that is a person or an animal."""
    return (tense != "progressive" or verb.gerund is not None) and (person or verb.animals)


def is_vague(verb: Verb, noun: Noun) -> bool:
    """Tell whether Spanish would say "a man" in two ways.

    Who looks for any man at all "busca un hombre", who looks for one man "busca a un hombre".
    """
    return verb.name == "look for" and noun.kind in _BEINGS


def prepositions(verb: Verb) -> tuple[lex.Preposition, ...]:
    """Return what may stand before a place, or a person with whom something is done."""
    together = verb.name in ("work", "sing", "run", "eat", "buy")
    return lex.PREPOSITIONS if together else lex.PREPOSITIONS[:2]


def _adjunct_allowed(
    clause: Clause, verb: Verb, preposition: lex.Preposition, phrase: NounPhrase
) -> bool:
    placed = isinstance(clause.object, NounPhrase) and clause.object.noun.kind == "place"
    return (
        not placed
        and preposition in prepositions(verb)
        and suits(preposition, phrase.noun)
        and _phrase_allowed(phrase, definite=clause.negative)
    )


# Noun phrases


def _phrase_allowed(phrase: NounPhrase, *, definite: bool, main: Verb | None = None) -> bool:
    """Ask of a noun phrase: do its words go together?

    Args:
        phrase: the phrase.
        definite: whether "a" and "every" are excluded.
        main: the verb of the clause around it; None where no relative clause may stand.
    """
    owner, relative = phrase.owner, phrase.relative
    determined = determiner_allowed(phrase.determiner, phrase.noun, phrase.plural, definite)
    if not (determined and _adjectives_allowed(phrase)):
        return False
    if (owner or relative) and (phrase.determiner is not lex.THE or (owner and relative)):
        return False
    if owner is not None:
        plain = owner.before is None and not owner.very
        owns = owner.noun in menu(held_out=True).owners[phrase.noun]
        return plain and owns and _phrase_allowed(owner, definite=True)
    if relative is not None:
        return main is not None and _relative_allowed(relative, phrase, main)
    return True


def determiner_allowed(determiner: Determiner, noun: Noun, plural: bool, definite: bool) -> bool:
    """Tell whether a determiner may stand before a noun; `definite` excludes "a" and "every"."""
    return (
        (noun.owned or not determiner.possessive)
        and determiner.english[plural] is not None
        and not (definite and determiner in (lex.A, lex.EVERY))
    )


def _adjectives_allowed(phrase: NounPhrase) -> bool:
    before, adjective = phrase.before, phrase.adjective
    if before is not None and before not in menu(held_out=True).before[phrase.noun]:
        return False
    if adjective is None:
        return not phrase.very
    return (
        adjective in menu(held_out=True).after[phrase.noun]
        and (adjective.gradable or not phrase.very)
        and (before is None or before.scale != adjective.scale)
    )


def _relative_allowed(clause: Clause, phrase: NounPhrase, main: Verb) -> bool:
    """Ask of "who sleeps" and "that the boy bought": do they suit noun and verb around them?"""
    verb, subject = clause.verb, clause.subject
    assert verb is not None
    if verb is main or clause.adjunct or clause.adverb:
        return False
    if phrase.noun.kind in _BEINGS:
        # Who sleeps does not run: only one of the two verbs is intransitive.
        return (
            subject is None
            and bool(main.nouns or verb.nouns)
            and may_say(verb, clause.tense, person=phrase.noun.kind == "person")
            and _object_allowed(clause, verb, phrase, relative=False)
        )
    known = subject is lex.I or (
        isinstance(subject, NounPhrase)
        and subject.noun.kind == "person"
        and _phrase_allowed(subject, definite=clause.negative)
    )
    possible = verb in menu(held_out=True).verbs[phrase.noun]
    return known and possible and may_say(verb, clause.tense, person=True)


def _is_person(subject: NounPhrase | Pronoun) -> bool:
    return isinstance(subject, Pronoun) or subject.noun.kind == "person"


def _nouns(part: Clause | NounPhrase | Pronoun | None) -> Iterator[Noun]:
    """Yield every noun of a clause: none comes twice."""
    if isinstance(part, NounPhrase):
        yield part.noun
        yield from _nouns(part.owner)
        yield from _nouns(part.relative)
    elif isinstance(part, Clause):
        yield from _nouns(part.subject)
        yield from _nouns(part.object)
        if part.adjunct:
            yield from _nouns(part.adjunct[1])


# Clauses together


def _joins(clause: Clause, conjunction: str, said: Sentence) -> bool:
    """Ask of a later clause: does it follow from the one before, in words, time and subject?"""
    before = said[-1][1]
    if conjunction not in conjunctions(said) or _time_is_wrong(clause, conjunction, before):
        return False
    if clause.negative and (
        conjunction in ("when", "while") or (conjunction == "but" and before.negative)
    ):
        return False
    if clause.verb is None:
        return conjunction not in ("when", "while") and is_clear(clause.subject, said)
    repeated = any(other.adverb and other.tense == clause.tense for _, other in said)
    if clause.adverb and (repeated or conjunction in ("when", "while")):
        return False
    if clause.verb is before.verb:
        return False
    if clause.subject is None:
        return _shares(clause, conjunction, before)
    return is_clear(clause.subject, said)


def conjunctions(said: Sentence) -> list[str]:
    """Return the conjunctions that may follow without a subjunctive; only "and" comes twice."""
    before = said[-1][1]
    choices = ["but"]
    # Nothing is red or old because the king sings.
    if before.adjective is None or before.adjective.scale == "mood":
        choices.append("because")
    if before.verb and before.tense in ("present", "past"):
        choices.append("when")
    if before.verb and before.tense in ("present", "progressive"):
        choices.append("while")
    used = {conjunction for conjunction, _ in said}
    return ["and", *(choice for choice in choices if choice not in used)]


def _time_is_wrong(clause: Clause, conjunction: str, before: Clause) -> bool:
    verb, tense = clause.verb, clause.tense
    if verb is None:
        return False
    if conjunction == "when":
        return tense != before.tense or (tense == "past" and not verb.event)
    if conjunction == "while":
        return tense not in ("present", "progressive") or verb.gerund is None
    # A cause does not come after its effect.
    late = TIME[tense] > TIME[before.tense]
    return conjunction == "because" and late


def _shares(clause: Clause, conjunction: str, before: Clause) -> bool:
    """Ask of "sees the dog and sleeps": may the subject stay unsaid?"""
    verb, subject = clause.verb, before.subject
    assert verb is not None
    if subject is None or before.verb is None or before.closed or before.negative:
        return False
    return (
        (conjunction == "and" or (conjunction == "but" and clause.negative))
        and clause.tense == before.tense
        and bool(verb.nouns or before.object)
        and may_say(verb, clause.tense, person=_is_person(subject))
    )


def is_clear(subject: NounPhrase | Pronoun | None, said: Sentence) -> bool:
    """Tell whether a subject cannot be taken for an earlier one, as a pronoun could."""
    if not isinstance(subject, Pronoun):
        return True
    if subject is lex.I:
        return not said or said[-1][1].person != lex.FIRST
    return not any(
        clause.person == subject.person
        and (clause.person == lex.PLURAL or clause.feminine == subject.feminine)
        for _, clause in said
    )
