"""The site is built without a warning, leads nowhere that is not there, and can be searched."""

import html.parser
import json
import os
import pathlib
import re
import urllib.parse

import pytest

from compat.make import site
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
