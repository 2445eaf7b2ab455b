"""Texts that say what was copied: in words, in colour and by a line."""

import torch

from bookkit.figures import written_text


def test_words_say_where_they_come_from_without_colour() -> None:
    shown = written_text(["a", "b", "c<"], torch.tensor([0.95, 0.05, 0.5]), title="T&")
    assert repr(shown) == "T&: [a] b (c<)"
    page = shown._repr_html_()
    assert "c&lt;" in page
    assert "T&amp;" in page
    a, b, c = page.split("<span")[1:]
    assert "underline" in a
    assert "dotted" not in a
    assert "style" not in b
    assert "underline dotted" in c
    assert 'title="both, copied 0.50"' in c
    assert "var(--am-petrol," in a, "the page's colour, which follows its theme"
