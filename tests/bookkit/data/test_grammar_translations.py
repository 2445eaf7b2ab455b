"""Sentences translated by hand, among them every irregularity that the grammar knows."""

from __future__ import annotations

from typing import Any

from bookkit.data.grammar import lexicon
from bookkit.data.grammar.lexicon import Tense
from bookkit.data.grammar.render import render
from bookkit.data.grammar.trees import Clause, NounPhrase, Sentence

NOUNS = {form: noun for noun in lexicon.NOUNS for form in noun.english}
ADJECTIVES = {adjective.english: adjective for adjective in lexicon.ADJECTIVES}
VERBS = {verb.name: verb for verb in lexicon.VERBS}
PRONOUNS = {form: pronoun for pronoun in lexicon.PRONOUNS for form in pronoun.english}
PREPOSITIONS = {p.english: p for p in (lexicon.IN, lexicon.NEAR, lexicon.WITH)}
DETERMINERS = {
    form: determiner
    for determiner in vars(lexicon).values()
    if isinstance(determiner, lexicon.Determiner)
    for form in determiner.english
    if form
}


def phrase(text: str, **more: Any) -> NounPhrase:
    """Read "the very old kings"; the article "a" stands for "an" too."""
    determiner, *words, noun = text.split()
    adjectives = [ADJECTIVES[word] for word in words if word != "very"]
    return NounPhrase(
        NOUNS[noun],
        noun == NOUNS[noun].english[1],
        DETERMINERS[determiner],
        before=next((a for a in adjectives if a.before), None),
        adjective=next((a for a in adjectives if not a.before), None),
        very="very" in words,
        **more,
    )


def thing(spec: str | NounPhrase | None) -> Any:
    if not isinstance(spec, str):
        return spec
    return PRONOUNS[spec] if spec in PRONOUNS else phrase(spec)


def clause(
    subject: str | NounPhrase | None,
    verb: str,
    tense: Tense = "present",
    spec: str | NounPhrase | None = None,
    *,
    no: bool = False,
    of: NounPhrase | None = None,
    place: str | None = None,
    **more: Any,
) -> Clause:
    """Make a clause; `of` is the antecedent, or the subject that is not said again."""
    who = thing(subject)
    agree = who if who is not None else of
    assert agree is not None
    result = Clause(who, agree.person, agree.feminine, tense, no, **more)
    if verb.startswith("be "):
        *very, adjective = verb.split()[1:]
        result.adjective, result.very = ADJECTIVES[adjective], bool(very)
    else:
        result.verb, result.object = VERBS[verb], thing(spec)
    if place:
        preposition, rest = place.split(" ", 1)
        result.adjunct = PREPOSITIONS[preposition], phrase(rest)
    return result


BOY, GIRLS = phrase("the boy"), phrase("the girls")


def who(text: str, verb: str, tense: Tense, spec: str | None = None, **more: Any) -> NounPhrase:
    antecedent = phrase(text)
    antecedent.relative = clause(None, verb, tense, spec, of=antecedent, **more)
    return antecedent


def that(text: str, subject: str, verb: str, tense: Tense, **more: Any) -> NounPhrase:
    antecedent = phrase(text)
    antecedent.relative = clause(subject, verb, tense, **more)
    return antecedent


def one(*arguments: Any, **more: Any) -> Sentence:
    return [(None, clause(*arguments, **more))]


GOLDEN: list[tuple[str, str, Sentence]] = [
    (
        "the boy does not see the red house",
        "el niño no ve la casa roja",
        one("the boy", "see", "present", "the red house", no=True),
    ),
    ("i sleep", "duermo", one("i", "sleep")),
    ("i did not sleep", "no dormí", one("i", "sleep", "past", no=True)),
    ("the girls slept", "las niñas durmieron", one("the girls", "sleep", "past")),
    ("she is not sleeping", "ella no está durmiendo", one("she", "sleep", "progressive", no=True)),
    ("i am running", "estoy corriendo", one("i", "run", "progressive")),
    ("they are singing", "ellos están cantando", one("they", "sing", "progressive")),
    ("he sees him", "él lo ve", one("he", "see", "present", "him")),
    ("he saw her", "él la vio", one("he", "see", "past", "her")),
    ("she sees her book", "ella ve su libro", one("she", "see", "present", "her book")),
    ("they will see me", "ellos me verán", one("they", "see", "future", "me")),
    ("i will not see them", "no los veré", one("i", "see", "future", "them", no=True)),
    ("i looked for the cake", "busqué el pastel", one("i", "look for", "past", "the cake")),
    (
        "the king looked at the city",
        "el rey miró la ciudad",
        one("the king", "look at", "past", "the city"),
    ),
    (
        "the king looked for the queen",
        "el rey buscó a la reina",
        one("the king", "look for", "past", "the queen"),
    ),
    (
        "the woman is listening to the man",
        "la mujer está escuchando al hombre",
        one("the woman", "listen to", "progressive", "the man"),
    ),
    (
        "they are not waiting for him",
        "ellos no lo están esperando",
        one("they", "wait for", "progressive", "him", no=True),
    ),
    ("i find the dog", "encuentro al perro", one("i", "find", "present", "the dog")),
    (
        "the men found a cow",
        "los hombres encontraron a una vaca",
        one("the men", "find", "past", "a cow"),
    ),
    (
        "an old man bought an apple",
        "un hombre viejo compró una manzana",
        one("a old man", "buy", "past", "a apple"),
    ),
    ("i ate a very big egg", "comí un huevo muy grande", one("i", "eat", "past", "a very big egg")),
    ("the good king sleeps", "el buen rey duerme", one("the good king", "sleep")),
    ("the good kings sleep", "los buenos reyes duermen", one("the good kings", "sleep")),
    ("a good queen runs", "una buena reina corre", one("a good queen", "run")),
    (
        "this great old city is very big",
        "esta gran ciudad vieja es muy grande",
        one("this great old city", "be very big"),
    ),
    ("the great trees are old", "los grandes árboles son viejos", one("the great trees", "be old")),
    ("those women are happy", "esas mujeres son felices", one("those women", "be happy")),
    (
        "these cakes are not small",
        "estos pasteles no son pequeños",
        [(None, clause("these cakes", "be small", no=True))],
    ),
    ("i am not happy", "no soy feliz", one("i", "be happy", no=True)),
    ("he is good", "él es bueno", one("he", "be good")),
    ("every city is new", "cada ciudad es nueva", one("every city", "be new")),
    (
        "my brothers saw the window of the blue car yesterday",
        "mis hermanos vieron la ventana del coche azul ayer",
        one(
            "my brothers", "see", "past", phrase("the window", owner=phrase("the blue car")),
            adverb=True,
        ),
    ),
    (
        "his sisters will work in the garden tomorrow",
        "sus hermanas trabajarán en el jardín mañana",
        one("his sisters", "work", "future", place="in the garden", adverb=True),
    ),
    (
        "the horses run near the tree",
        "los caballos corren cerca del árbol",
        one("the horses", "run", place="near the tree"),
    ),
    (
        "she is eating with those girls now",
        "ella está comiendo con esas niñas ahora",
        one("she", "eat", "progressive", place="with those girls", adverb=True),
    ),
    ("the flowers are red", "las flores son rojas", one("the flowers", "be red")),
    (
        "the girl who did not see the dog waited for me",
        "la niña que no vio al perro me esperó",
        one(who("the girl", "see", "past", "the dog", no=True), "wait for", "past", "me"),
    ),
    (
        "the dogs that are sleeping are black",
        "los perros que están durmiendo son negros",
        one(who("the dogs", "sleep", "progressive"), "be black"),
    ),
    (
        "i will buy the books that the young woman is looking for",
        "compraré los libros que la mujer joven está buscando",
        one("i", "buy", "future", that("the books", "the young woman", "look for", "progressive")),
    ),
    (
        "the car that i bought is blue",
        "el coche que compré es azul",
        one(that("the car", "i", "buy", "past"), "be blue"),
    ),
    (
        "the boy sees her and she sees the boy",
        "el niño la ve y ella ve al niño",
        [
            (None, clause("the boy", "see", "present", "her")),
            ("and", clause("she", "see", "present", "the boy", contrast=True)),
        ],
    ),
    (
        "i work and the girls sing but i do not sing",
        "trabajo y las niñas cantan pero yo no canto",
        [
            (None, clause("i", "work")),
            ("and", clause("the girls", "sing", contrast=True)),
            ("but", clause("i", "sing", no=True, contrast=True)),
        ],
    ),
    (
        "the boy ate the cake but did not eat the apples because i bought an egg",
        "el niño comió el pastel pero no comió las manzanas porque compré un huevo",
        [
            (None, clause("the boy", "eat", "past", "the cake")),
            ("but", clause(None, "eat", "past", "the apples", no=True, of=BOY, contrast=True)),
            ("because", clause("i", "buy", "past", "a egg")),
        ],
    ),
    (
        "the queen sings while i listen to the cats",
        "la reina canta mientras escucho a los gatos",
        [
            (None, clause("the queen", "sing")),
            ("while", clause("i", "listen to", "present", "the cats")),
        ],
    ),
    (
        "the girls ran and found the flowers when the horse saw him",
        "las niñas corrieron y encontraron las flores cuando el caballo lo vio",
        [
            (None, clause("the girls", "run", "past")),
            ("and", clause(None, "find", "past", "the flowers", of=GIRLS, contrast=True)),
            ("when", clause("the horse", "see", "past", "him")),
        ],
    ),
]  # fmt: skip


def test_translations() -> None:
    for english, spanish, sentence in GOLDEN:
        pair = render(sentence)
        assert (" ".join(pair.source), " ".join(pair.target)) == (english, spanish)


# For every Spanish word the place of the English word surely linked to it, and in parentheses the
# places of those possibly linked.
LINKS = {
    "the boy does not see the red house": "el 0 niño 1 no 3 (2) ve 4 (2) la 5 casa 7 roja 6",
    "i did not sleep": "no 2 (1) dormí 3 (0 1)",
    "i am running": "estoy 1 (0) corriendo 2",
    "i am not happy": "no 2 soy 1 (0) feliz 3",
    "they will see me": "ellos 0 me 3 verán 2 (1)",
    "they are not waiting for him": "ellos 0 no 2 lo 5 están 1 esperando 3 (4)",
    "i will not see them": "no 2 los 4 veré 3 (0 1)",
    "the king looked for the queen": "el 0 rey 1 buscó 2 (3) a (3 4 5) la 4 reina 5",
    "the woman is listening to the man": ("la 0 mujer 1 está 2 escuchando 3 (4) al 5 (4) hombre 6"),
    "i find the dog": "encuentro 1 (0) al 2 perro 3",
    "the men found a cow": "los 0 hombres 1 encontraron 2 a (3 4) una 3 vaca 4",
    "i ate a very big egg": "comí 1 (0) un 2 huevo 5 muy 3 grande 4",
    "this great old city is very big": "esta 0 gran 1 ciudad 3 vieja 2 es 4 muy 5 grande 6",
    "the horses run near the tree": "los 0 caballos 1 corren 2 cerca 3 del 4 (3) árbol 5",
    "my brothers saw the window of the blue car yesterday": (
        "mis 0 hermanos 1 vieron 2 la 3 ventana 4 del 5 (6) coche 8 azul 7 ayer 9"
    ),
    "the car that i bought is blue": "el 0 coche 1 que 2 compré 4 (3) es 5 azul 6",
    "the boy sees her and she sees the boy": ("el 0 niño 1 la 3 ve 2 y 4 ella 5 ve 6 al 7 niño 8"),
    "i work and the girls sing but i do not sing": (
        "trabajo 1 (0) y 2 las 3 niñas 4 cantan 5 pero 6 yo 7 no 9 (8) canto 10 (8)"
    ),
}


def test_links() -> None:
    trees = {english: sentence for english, _, sentence in GOLDEN}
    for english, links in LINKS.items():
        pair = render(trees[english])
        sure, possible = dict(pair.sure), sorted(pair.possible)
        described = []
        for row, word in enumerate(pair.target):
            loose = " ".join(str(column) for place, column in possible if place == row)
            described += [word, *([str(sure[row])] if row in sure else [])]
            described += [f"({loose})"] if loose else []
        assert " ".join(described) == links
