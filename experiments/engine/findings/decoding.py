"""The findings of `experiments.decoding.study`."""

from bookkit.records import Finding

FINDINGS = {
    "cold_is_sound": Finding(
        holds="At a low temperature the model writes more sentences that are grammatical.",
        fails="At a low temperature the model writes fewer sentences that are grammatical.",
        undecided="We cannot tell whether a low temperature makes sentences more grammatical.",
        number="{} more grammatical sentences in 100",
    ),
    "cold_repeats": Finding(
        holds="At a low temperature the model repeats itself more.",
        fails="At a low temperature the model repeats itself less.",
        undecided="We cannot tell whether a low temperature makes the model repeat itself.",
        number="{size} fewer different sentences in 100",
    ),
    "top_p_beats_temperature": Finding(
        holds="With as much variety, top-p writes more grammatical sentences than a lower "
        "temperature.",
        fails="With as much variety, a lower temperature writes more grammatical sentences than "
        "top-p.",
        undecided="With as much variety, we cannot tell top-p from a lower temperature.",
        number="{} more grammatical sentences in 100",
    ),
    "top_k_beats_temperature": Finding(
        holds="With as much variety, top-k writes more grammatical sentences than a lower "
        "temperature.",
        fails="With as much variety, a lower temperature writes more grammatical sentences than "
        "top-k.",
        undecided="With as much variety, we cannot tell top-k from a lower temperature.",
        number="{size} fewer grammatical sentences in 100 with top-k",
    ),
    "beam_finds_more": Finding(
        holds="A beam finds more probable sentences than taking the best word each time.",
        fails="Taking the best word each time finds more probable sentences than a beam.",
        undecided="We cannot tell whether a beam finds more probable sentences than the best word "
        "each time.",
        number="{} nats gained",
    ),
    "beam_can_lose": Finding(
        holds="Now and then a beam ends with a less probable sentence than the best word each "
        "time.",
        fails="A beam never ends with a less probable sentence than the best word each time.",
        undecided="We cannot tell whether a beam can end worse than the best word each time.",
        number="{} in 100 beginnings",
    ),
    "five_are_enough": Finding(
        holds="A small beam nearly always finds the most probable sentence there is.",
        fails="A small beam often misses the most probable sentence there is.",
        undecided="We cannot tell how often a small beam misses the most probable sentence.",
        number="{} in 100 beginnings",
    ),
    "best_is_short": Finding(
        holds="The most probable sentences are shorter than those made of the best word each time.",
        fails="The most probable sentences are longer than those made of the best word each time.",
        undecided="We cannot tell whether the most probable sentences are shorter.",
        number="{size} words shorter",
    ),
    "best_is_sound": Finding(
        holds="The most probable sentences are more often grammatical.",
        fails="The most probable sentences are less often grammatical.",
        undecided="We cannot tell whether the most probable sentences are more often grammatical.",
        number="{} more grammatical sentences in 100",
    ),
}
