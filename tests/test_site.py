"""The site is built without a warning, leads nowhere that is not there, and can be searched."""

import html.parser
import json
import os
import pathlib
import re
import textwrap
import urllib.parse

import pytest

from compat.make import site
from tests import ROOT
from tests.helpers import browser
from tpudist import surfaces

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("material", reason="the site is of mkdocs-material")
    pytest.importorskip("mkdocstrings", reason="it writes the reference")
    made = tmp_path_factory.mktemp("site")
    assert site.main([str(made)]) == 0
    return made


class Links(html.parser.HTMLParser):
    """The ids of a page, and what it links to or fetches."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.leads_to = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids |= {given.get("id"), given.get("name")}
        self.leads_to += [given[name] for name in ("href", "src") if given.get(name)]


class Article(html.parser.HTMLParser):
    """The headings of a page's article, and its blocks of code: each a text."""

    def __init__(self, text):
        super().__init__()
        self.headings, self.blocks, self._into, self._link = [], [], None, False
        self.feed(text[text.index("<article") : text.index("</article>")])

    def handle_starttag(self, tag, attributes):
        kept = self.blocks if tag == "pre" else self.headings
        if re.match("pre$|h[1-6]$", tag):
            self._into = kept
            kept.append("")
        self._link = dict(attributes).get("class") == "headerlink"

    def handle_endtag(self, tag):
        self._link = False
        if re.match("pre$|h[1-6]$", tag):
            self._into = None

    def handle_data(self, data):
        if self._into is not None and not self._link:
            self._into[-1] += data


#: A block of code in Markdown: between fences, or indented below an empty line.
_BLOCK = re.compile(r"^```.*\n((?:.*\n)*?)```$|(?<=\n\n)((?: {4}.*\n+)+)", re.M)


def lines(block):
    """The lines of a block of code, without empty ones and what all are indented by."""
    return [line.rstrip() for line in textwrap.dedent(block).splitlines() if line.strip()]


@pytest.mark.parametrize("page", [path for path in site.pages() if path.endswith(".md")])
def test_code_and_headings_of_a_page_are_those_of_its_markdown(folder, page):
    text = pathlib.Path(ROOT, page).read_text("utf-8")
    built = "index.html" if page == "README.md" else page.replace("README.md", "index.html")
    article = Article((folder / built.replace(".md", ".html")).read_text("utf-8"))
    code = ["".join(block) for block in _BLOCK.findall(text)]
    assert [lines(block) for block in article.blocks] == [lines(block) for block in code]
    headings = re.findall("^#+ (.*)$", _BLOCK.sub("", text), re.M)
    assert article.headings == [heading.replace("`", "") for heading in headings]


def test_no_link_is_broken(folder):
    pages = {path: Links(path.read_text("utf-8")) for path in folder.rglob("*.html")}
    assert len(pages) > 30
    broken = []
    for path, page in pages.items():
        for link in page.leads_to:
            if re.match(r"\w+:|//", link) or path.name == "404.html":
                continue
            place, _, anchor = urllib.parse.unquote(link).partition("#")
            target = pathlib.Path(os.path.normpath(str(path.parent / place))) if place else path
            if target.is_dir():
                target = target / "index.html"
            known = pages[target].ids if target in pages and anchor else {anchor}
            if not target.exists() or anchor not in known:
                broken.append("%s: %s" % (path.relative_to(folder), link))
    assert broken == []


def test_nothing_is_fetched_from_elsewhere(folder):
    text = (folder / "index.html").read_text("utf-8")
    assert re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"(?:https?:)?//", text) == []


def test_the_reference_has_every_method_of_each_surface(folder):
    for era in surfaces.ERAS:
        text = (folder / "reference" / (era + ".html")).read_text("utf-8")
        methods = {
            row.name.rpartition(".")[2]
            for row in surfaces.rows_of(era)
            if row.kind == "method" and row.name.startswith("TPUStrategy.") and not row.carried
        } - {"__init__"}
        assert len(methods) > 5
        assert [name for name in sorted(methods) if '.%s"' % name not in text] == []


def test_search_finds_a_guide_and_an_error(folder):
    index = json.loads((folder / "search" / "search_index.json").read_text("utf-8"))
    texts = {each["location"]: each["text"] for each in index["docs"]}
    assert any("experimental_run_v2" in text for text in texts.values())
    assert any(place.startswith("examples/guides/") for place in texts)
    assert any("TPUNameError" in place for place in texts)


def test_a_browser_opens_it(folder, tmp_path):
    text = browser.run(tmp_path, (1200, 800), "--dump-dom", (folder / "index.html").as_uri())
    assert "Keep a program running" in text and "The error you came with" in text


#: Says how wide a page is that a browser has laid out.
_MEASURE = "<script>onload = () => document.title = document.documentElement.scrollWidth</script>"


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("guide", site.guides_in_order())
def test_no_guide_scrolls_sideways(folder, tmp_path, guide, width):
    page = folder / "examples" / "guides" / (guide + ".html")
    measured = page.with_name("%s_of_%d.html" % (guide, width))
    measured.write_text(page.read_text("utf-8") + _MEASURE, "utf-8")
    document = browser.run(tmp_path, (width, 800), "--dump-dom", measured.as_uri())
    measured.unlink()
    assert re.findall("<title>(.*?)</title>", document) == [str(width)]
