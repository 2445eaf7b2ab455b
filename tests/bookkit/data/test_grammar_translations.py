"""Sentences translated by hand, among them every irregularity that the grammar knows."""

from __future__ import annotations

from bookkit.data.grammar.reading import read
from bookkit.data.grammar.render import render

# Where there are numbers: for every Spanish word the place of the English word surely linked to
# it, and in parentheses the places of those possibly linked.
TRANSLATIONS = """
the boy does not see the red house = el 0 niño 1 no 3 (2) ve 4 (2) la 5 casa 7 roja 6
i sleep = duermo
i did not sleep = no 2 (1) dormí 3 (0 1)
the girls slept = las niñas durmieron
she is not sleeping = ella no está durmiendo
i am running = estoy 1 (0) corriendo 2
they are singing = ellos están cantando
he sees him = él lo ve
he saw her = él la vio
she sees her book = ella ve su libro
they will see me = ellos 0 me 3 verán 2 (1)
i will not see them = no 2 los 4 veré 3 (0 1)
i looked for the cake = busqué el pastel
the king looked at the city = el rey miró la ciudad
the king looked for the queen = el 0 rey 1 buscó 2 (3) a (3 4 5) la 4 reina 5
the woman is listening to the man = la 0 mujer 1 está 2 escuchando 3 (4) al 5 (4) hombre 6
they are not waiting for him = ellos 0 no 2 lo 5 están 1 esperando 3 (4)
i find the dog = encuentro 1 (0) al 2 perro 3
the men found a cow = los 0 hombres 1 encontraron 2 a (3 4) una 3 vaca 4
an old man bought an apple = un hombre viejo compró una manzana
i ate a very big egg = comí 1 (0) un 2 huevo 5 muy 3 grande 4
the good king sleeps = el buen rey duerme
the good kings sleep = los buenos reyes duermen
a good queen runs = una buena reina corre
this great old city is very good = esta 0 gran 1 ciudad 3 vieja 2 es 4 muy 5 buena 6
the great trees are old = los grandes árboles son viejos
those women are happy = esas mujeres son felices
these cakes are not small = estos pasteles no son pequeños
i am not happy = no 2 soy 1 (0) feliz 3
he is good = él es bueno
the city is new = la ciudad es nueva
she sees every city = ella ve cada ciudad
my brothers saw the window of the blue car yesterday = \
mis 0 hermanos 1 vieron 2 la 3 ventana 4 del 5 (6) coche 8 azul 7 ayer 9
his sisters will work in the garden tomorrow = sus hermanas trabajarán en el jardín mañana
the horses run near the tree = los 0 caballos 1 corren 2 cerca 3 del 4 (3) árbol 5
she is singing with those girls now = ella está cantando con esas niñas ahora
he is eating the egg = él está comiendo el huevo
the flowers are red = las flores son rojas
the girl who did not see the dog waited for me = la niña que no vio al perro me esperó
the dogs that are sleeping see him = los perros que están durmiendo lo ven
the black dogs are small = los perros negros son pequeños
i will buy the books that the young woman is looking for = \
compraré los libros que la mujer joven está buscando
i see the car that i bought = veo 1 (0) el 2 coche 3 que 4 compré 6 (5)
the boy sees her and she looks at the boy = \
el 0 niño 1 la 3 ve 2 y 4 ella 5 mira 6 (7) al 8 (7) niño 9
i work and the girls sing but i do not run = \
trabajo 1 (0) y 2 las 3 niñas 4 cantan 5 pero 6 yo 7 no 9 (8) corro 10 (8)
i sing and he will not run = canto y él no correrá
the boy ate the cake but did not find the apples because i bought an egg = \
el niño comió el pastel pero no encontró las manzanas porque compré un huevo
the queen sings while i listen to the cats = la reina canta mientras escucho a los gatos
the girls ran and found the flowers when the horse saw him = \
las niñas corrieron y encontraron las flores cuando el caballo lo vio
"""


def test_translations_and_links() -> None:
    for line in TRANSLATIONS.strip().splitlines():
        english, spanish = line.split(" = ")
        tree = read(english.split())
        assert tree is not None, english
        pair = render(tree)
        assert " ".join(pair.source) == english
        if "0" not in spanish:
            assert " ".join(pair.target) == spanish
            continue
        sure, described = dict(pair.sure), []
        for row, word in enumerate(pair.target):
            loose = " ".join(str(column) for place, column in sorted(pair.possible) if place == row)
            described += [word, *([str(sure[row])] if row in sure else [])]
            described += [f"({loose})"] if loose else []
        assert " ".join(described) == spanish
