"""``tpudist migrate --report html``: one page that needs nothing beside it."""

import html.parser
import os
import re

from tests.tools.migrate import harness
from tests.tools.migrate.harness import LEFT, OLD, USE, migrate

CONTRIB = "from tpudist.contrib import tensorflow as tf\ns = tf.contrib.distribute.TPUStrategy(r)\n"


def test_html(tree, capsys):
    harness.put(
        tree, {"a.py": OLD + USE + LEFT + "x = '<b>&'\n", "c.py": "import tensorflow\nprint 'x'\n"}
    )
    migrate(tree, "--to", "2.2", "--report", "html")
    page = capsys.readouterr().out
    assert page.startswith("<!doctype html>") and "<script" not in page
    for words in (
        "v2_0",
        "<span class=del>-s.experimental_run_v2(fn)",
        "<span class=add>+s.run(fn)",
        "it may be a strategy&#x27;s",
        "not Python 3",
    ):
        assert words in page, words
    assert "<b>&" not in page


class Page(html.parser.HTMLParser):
    """What is in a page: the tags, and the words outside of them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.attributes = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_data(self, data):
        self.words.append(data)


ODD = "</pre><script>alert(1)</script><img src=x onerror=alert(1)> & \" ' ü"


def test_html_shows_text_of_users_as_text(tmp_path, capsys):
    name = "<b>&'odd.py" if os.name != "nt" else "odd.py"
    harness.put(
        tmp_path,
        {
            name: OLD
            + "s.experimental_run_v2(%r)\n%s" % (ODD, LEFT)
            + "foo.experimental_run_v2('<i>')\n"
        },
    )
    migrate(tmp_path, "--to", "2.2", "--report", "html")
    page = Page(capsys.readouterr().out)
    assert set(page.tags) <= {
        "html",
        "meta",
        "title",
        "style",
        "h1",
        "h2",
        "div",
        "b",
        "table",
        "tr",
        "th",
        "td",
        "code",
        "details",
        "summary",
        "pre",
        "span",
        "p",
    }
    assert page.tags.count("b") == 6, "the cards alone"
    words = "".join(page.words)
    assert repr(ODD) in words and name in words


def test_html_needs_nothing_but_itself(tree, capsys):
    migrate(tree, "--to", "2.2", "--report", "html")
    page = Page(capsys.readouterr().out)
    assert not {"src", "href", "onclick", "srcset"} & {name for name, _ in page.attributes}
    assert "url(" not in "".join(page.words) and "@import" not in "".join(page.words)


def test_html_lists_what_was_rewritten_file_by_file(tree, capsys):
    harness.put(tree, {"z.py": CONTRIB + "s.unwrap(x)\n"})
    migrate(tree, "--to", "2.2", "--report", "html")
    page = capsys.readouterr().out
    first, second = page.split("<details")[1:]
    assert (
        "<td class=n>3:1<td>run<td><code>s.experimental_run_v2</code><td><code>run</code>" in first
    )
    assert "<td>unwrap<td><code>s.unwrap</code><td><code>experimental_local_results" in second
    cards = {
        what: int(count)
        for count, what in re.findall(r"<div class=card><b>(\d+)</b>([^<]*)</div>", page)
    }
    assert cards == {
        "files": 3,
        "with legacy names": 2,
        "change": 2,
        "uses rewritten": 5,
        "left": 0,
        "files refused": 0,
    }


def test_the_tables_are_no_wider_than_their_page(tree, capsys):
    """A path or an expression may be broken anywhere: the only column that is not is the rule's."""
    harness.put(
        tree,
        {
            "%s.py" % ("a" * 120): OLD
            + "very_long"
            + ".very_long" * 40
            + ".experimental_run_v2(f)\n"
        },
    )
    migrate(tree, "--to", "2.2", "--report", "html")
    page = capsys.readouterr().out
    assert "a" * 120 in page and "td { overflow-wrap: anywhere; }" in page
    unbroken = re.findall(r"([^\n{}]+?) {[^}]*nowrap", page)
    assert unbroken == ["td.number", "td:nth-child(2)"] and "<td class=number" not in page
    rows = re.findall(r"<tr><td><code>[^<]*</code><td>([^<]*)<td>", page)
    assert rows and all(re.match(r"[a-z-]{1,30}$", rule) for rule in rows)


def test_html_of_nothing(tmp_path, capsys):
    harness.put(tmp_path, {"a.py": "x = 1\n"})
    assert migrate(tmp_path, "--to", "2.2", "--report", "html") == 0
    assert "Nothing left" in capsys.readouterr().out
