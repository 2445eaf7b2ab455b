"""The findings of `experiments.first_gradients.study`."""

from bookkit.records import Finding

FINDINGS = {
    "gains_at_64": Finding(
        holds="At width 64, the typical query gets more gradient without the scale, not less.",
        fails="At width 64, the typical query gets less gradient without the scale.",
        undecided="At width 64, we cannot tell whether the typical query gets less gradient.",
        number="{} times what it gets with the scale",
    ),
    "gains_with_16_keys": Finding(
        holds="With 16 keys, too, the typical query gets more gradient without the scale.",
        fails="With 16 keys, the typical query gets less gradient without the scale.",
        undecided="With 16 keys, we cannot tell whether the typical query gets less gradient.",
        number="{} times what it gets with the scale",
    ),
    "few_keys_starve": Finding(
        holds="With only 8 keys, the typical query gets less gradient without the scale.",
        fails="Even with 8 keys, the typical query gets more gradient without the scale.",
        undecided="With 8 keys, we cannot tell whether the typical query gets less gradient.",
        number="{} times what it gets with the scale",
    ),
    "gains_at_128": Finding(
        holds="At width 128, too, the typical query gets more gradient without the scale.",
        fails="At width 128, the typical query gets less gradient without the scale.",
        undecided="At width 128, we cannot tell whether the typical query gets less gradient.",
        number="{} times what it gets with the scale",
    ),
    "starved_are_few": Finding(
        holds="At width 64, few queries get almost no gradient without the scale.",
        fails="At width 64, many queries get almost no gradient without the scale.",
        undecided="At width 64, we cannot tell how many queries get almost no gradient.",
        number="{} in 100 queries get almost none",
    ),
}
