"""The exercises of the pages, a module a page, each a table of the mistakes and their hints.

`exercise` has the kinds of exercises, `answers` what they do with an answer; `silent` is a layer
with mistakes that raise no error. A new exercise needs no test: one test runs them all.
"""
