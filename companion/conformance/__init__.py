"""A conformance kit: does an attention function scale, mask, group, cache and sink rightly?

`companion.conformance.kit` has the checks, each with the exhibit of the bug museum that shows what
it finds, and `examine`, which runs them. `companion.conformance.plugin` runs them under pytest:

    pytest --attention my_module:my_attention

It is loaded by every pytest that finds this package installed, so nothing is imported here.
"""
