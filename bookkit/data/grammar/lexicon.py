"""The words: what they are in both languages, and what they may be said of.

Spanish forms are written out, so that they can be read and checked one by one. Adjectives and
determiners list four forms, addressed by `2 * plural + feminine`; tenses list three persons, in
the order of `PERSONS`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["person", "animal", "food", "thing", "plant", "place"]
Tense = Literal["present", "past", "future", "progressive"]
Forms = tuple[str, str, str, str]
"""Masculine, feminine, plural masculine, plural feminine."""
Persons = tuple[str, str, str]
"""First person singular, third singular, third plural."""

FIRST, SINGULAR, PLURAL = range(3)


@dataclass(frozen=True, eq=False)
class Noun:
    """A noun: (singular, plural) in both languages; `owned` if "my" and "of the man" suit it."""

    english: tuple[str, str]
    spanish: tuple[str, str]
    feminine: bool
    kind: Kind
    owned: bool = True

    @property
    def name(self) -> str:
        """The English singular."""
        return self.english[0]


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective.

    `nouns` lists the kinds and nouns that it suits. Of one `scale`, a noun gets one adjective: no
    house is big and small. `before` holds the forms in front of a noun, if it stands there.
    """

    english: str
    spanish: Forms
    scale: str
    nouns: str
    before: Forms | None = None
    predicative: bool = True
    gradable: bool = True

    @property
    def name(self) -> str:
        """The English word."""
        return self.english


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb: (base, -s, past, -ing) in English, with the particle that decides its meaning.

    `nouns` lists the kinds and nouns of its objects, and is empty for an intransitive verb. A verb
    without -ing form has no progressive. An `event` comes to an end, and may so follow "when" in
    the past, where others would need the Spanish imperfect.
    """

    english: tuple[str, str, str, str | None]
    spanish: dict[Tense, Persons]
    gerund: str | None = None
    particle: str | None = None
    nouns: str = ""
    animals: bool = True
    event: bool = False

    @property
    def name(self) -> str:
        """The English base form, with its particle."""
        return f"{self.english[0]} {self.particle}" if self.particle else self.english[0]


@dataclass(frozen=True, eq=False)
class Determiner:
    """A determiner: (singular, plural or None) in English, four forms in Spanish."""

    english: tuple[str, str | None]
    spanish: Forms
    possessive: bool = False


@dataclass(frozen=True, eq=False)
class Pronoun:
    """A personal pronoun: subject and object form in both languages."""

    english: tuple[str, str]
    spanish: tuple[str, str]
    person: int
    feminine: bool = False


@dataclass(frozen=True, eq=False)
class Preposition:
    """A preposition before a place, a thing or a person; `spanish` may be two words."""

    english: str
    spanish: tuple[str, ...]
    nouns: str


def suits(word: Adjective | Verb | Preposition, noun: Noun) -> bool:
    """Tell whether an adjective, a verb or a preposition makes sense with a noun."""
    return bool({noun.kind, noun.name} & set(word.nouns.split()))


def _forms(forms: str) -> Any:
    return tuple(forms.split())


def _nouns(kind: Kind, words: str, *, owned: bool = True) -> Iterator[Noun]:
    """Yield nouns, each with its plural, their translations, and an f if it is feminine."""
    for noun in words.split(", "):
        one, many, uno, muchos, *feminine = noun.split()
        yield Noun((one, many), (uno, muchos), bool(feminine), kind, owned)


NOUNS = (
    *_nouns("person", "boy boys niño niños, girl girls niña niñas f, man men hombre hombres, "
        "woman women mujer mujeres f, king kings rey reyes, queen queens reina reinas f",
        owned=False),
    *_nouns("person", "brother brothers hermano hermanos, sister sisters hermana hermanas f"),
    *_nouns("animal", "dog dogs perro perros, cat cats gato gatos, "
        "horse horses caballo caballos, cow cows vaca vacas f"),
    *_nouns("food", "apple apples manzana manzanas f, cake cakes pastel pasteles, "
        "egg eggs huevo huevos"),
    *_nouns("thing", "book books libro libros, car cars coche coches, "
        "window windows ventana ventanas f"),
    *_nouns("plant", "flower flowers flor flores f, tree trees árbol árboles"),
    *_nouns("place", "house houses casa casas f, garden gardens jardín jardines"),
    *_nouns("place", "city cities ciudad ciudades f", owned=False),
)  # fmt: skip

_ANY = "person animal food thing plant place"
_ADULTS = "man woman king queen brother sister"
_SIZED = "boy girl brother sister animal food thing plant place"

ADJECTIVES = (
    Adjective("red", _forms("rojo roja rojos rojas"), "colour", "thing flower house apple",
        gradable=False),
    Adjective("black", _forms("negro negra negros negras"), "colour", "animal thing",
        gradable=False),
    Adjective("blue", _forms("azul azul azules azules"), "colour", "thing flower house",
        gradable=False),
    Adjective("old", _forms("viejo vieja viejos viejas"), "age",
        f"{_ADULTS} animal thing tree place"),
    Adjective("new", _forms("nuevo nueva nuevos nuevas"), "age", "thing place"),
    Adjective("young", _forms("joven joven jóvenes jóvenes"), "age", f"{_ADULTS} animal"),
    Adjective("small", _forms("pequeño pequeña pequeños pequeñas"), "size", _SIZED),
    Adjective("big", _forms("grande grande grandes grandes"), "size", _SIZED),
    Adjective("strong", _forms("fuerte fuerte fuertes fuertes"), "strength", "person animal"),
    Adjective("happy", _forms("feliz feliz felices felices"), "mood", "person animal"),
    Adjective("good", _forms("bueno buena buenos buenas"), "worth", "person animal book car place",
        before=_forms("buen buena buenos buenas")),
    Adjective("great", _forms("grande grande grandes grandes"), "size",
        "man woman king queen horse book tree place", before=_forms("gran gran grandes grandes"),
        predicative=False),
)  # fmt: skip


def _verb(
    english: str, present: str, past: str, future: str, gerund: str | None = None, **rest: Any
) -> Verb:
    base, third, before, *going = english.split()
    tenses = {"present": present, "past": past, "future": future}
    spanish: Any = {tense: _forms(forms) for tense, forms in tenses.items()}
    return Verb((base, third, before, going[0] if going else None), spanish, gerund, **rest)


VERBS = (
    _verb("see sees saw", "veo ve ven", "vi vio vieron", "veré verá verán", nouns=_ANY, event=True),
    _verb("look looks looked looking", "miro mira miran", "miré miró miraron",
        "miraré mirará mirarán", "mirando", particle="at", nouns=_ANY),
    _verb("look looks looked looking", "busco busca buscan", "busqué buscó buscaron",
        "buscaré buscará buscarán", "buscando", particle="for", nouns=_ANY),
    _verb("wait waits waited waiting", "espero espera esperan", "esperé esperó esperaron",
        "esperaré esperará esperarán", "esperando", particle="for", nouns="person animal"),
    _verb("listen listens listened listening", "escucho escucha escuchan",
        "escuché escuchó escucharon", "escucharé escuchará escucharán", "escuchando",
        particle="to", nouns="person animal"),
    _verb("find finds found", "encuentro encuentra encuentran", "encontré encontró encontraron",
        "encontraré encontrará encontrarán", nouns=_ANY, event=True),
    _verb("eat eats ate eating", "como come comen", "comí comió comieron", "comeré comerá comerán",
        "comiendo", nouns="food", event=True),
    _verb("buy buys bought buying", "compro compra compran", "compré compró compraron",
        "compraré comprará comprarán", "comprando", nouns="food thing plant house", animals=False,
        event=True),
    _verb("sleep sleeps slept sleeping", "duermo duerme duermen", "dormí durmió durmieron",
        "dormiré dormirá dormirán", "durmiendo"),
    _verb("work works worked working", "trabajo trabaja trabajan", "trabajé trabajó trabajaron",
        "trabajaré trabajará trabajarán", "trabajando", animals=False),
    _verb("sing sings sang singing", "canto canta cantan", "canté cantó cantaron",
        "cantaré cantará cantarán", "cantando", animals=False),
    _verb("run runs ran running", "corro corre corren", "corrí corrió corrieron",
        "correré correrá correrán", "corriendo"),
)  # fmt: skip

BE: Persons = ("am", "is", "are")
SER: Persons = ("soy", "es", "son")
"""What something is like: la casa es grande."""
ESTAR: Persons = ("estoy", "está", "están")
"""What is going on: está comiendo."""

THE = Determiner(("the", "the"), ("el", "la", "los", "las"))
A = Determiner(("a", None), ("un", "una", "", ""))
THIS = Determiner(("this", "these"), ("este", "esta", "estos", "estas"))
THAT = Determiner(("that", "those"), ("ese", "esa", "esos", "esas"))
EVERY = Determiner(("every", None), ("cada", "cada", "", ""))
MY = Determiner(("my", "my"), ("mi", "mi", "mis", "mis"), possessive=True)
HIS = Determiner(("his", "his"), ("su", "su", "sus", "sus"), possessive=True)
HER = Determiner(("her", "her"), ("su", "su", "sus", "sus"), possessive=True)
DETERMINERS = (THE, A, THIS, THAT, EVERY, MY, HIS, HER)

I = Pronoun(("i", "me"), ("yo", "me"), FIRST)  # noqa: E741
HE = Pronoun(("he", "him"), ("él", "lo"), SINGULAR)
SHE = Pronoun(("she", "her"), ("ella", "la"), SINGULAR, feminine=True)
THEY = Pronoun(("they", "them"), ("ellos", "los"), PLURAL)
PRONOUNS = (I, HE, SHE, THEY)

IN = Preposition("in", ("en",), "place")
NEAR = Preposition("near", ("cerca", "de"), "person plant place car window")
WITH = Preposition("with", ("con",), "person")
PREPOSITIONS = (IN, NEAR, WITH)

ADVERBS: dict[Tense, tuple[str, str]] = {
    "past": ("yesterday", "ayer"),
    "future": ("tomorrow", "mañana"),
    "progressive": ("now", "ahora"),
}

CONJUNCTIONS = {
    "and": "y", "but": "pero", "because": "porque", "when": "cuando", "while": "mientras",
}  # fmt: skip
