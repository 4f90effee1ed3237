"""``tpudist migrate --report html``: one page that needs nothing beside it."""

import html.parser
import os

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
        "\n-s.experimental_run_v2(fn)\n+s.run(fn)\n",
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
        "table",
        "tr",
        "th",
        "td",
        "code",
        "details",
        "summary",
        "pre",
        "p",
    }
    words = "".join(page.words)
    assert repr(ODD) in words and name in words


def test_html_needs_nothing_but_itself(tree, capsys):
    migrate(tree, "--to", "2.2", "--report", "html")
    page = Page(capsys.readouterr().out)
    assert not {"src", "href", "onclick", "srcset"} & {name for name, _ in page.attributes}
    assert "url(" not in "".join(page.words) and "@import" not in "".join(page.words)


def test_html_has_the_totals_and_the_files_that_change(tree, capsys):
    harness.put(tree, {"z.py": CONTRIB + "s.unwrap(x)\n"})
    migrate(tree, "--to", "2.2", "--report", "html")
    page = capsys.readouterr().out
    totals = "3 files, 2 of them with legacy names: 2 change, 5 uses rewritten, 0 left, 0 files"
    assert totals in page
    first, second = page.split("<details")[1:]
    assert "a.py</code>: imports 1, run 1<" in first and "+s.run(fn)" in first
    assert "z.py</code>: constructor 1, imports 1, unwrap 1<" in second


def test_html_of_nothing(tmp_path, capsys):
    harness.put(tmp_path, {"a.py": "x = 1\n"})
    assert migrate(tmp_path, "--to", "2.2", "--report", "html") == 0
    assert "Nothing left" in capsys.readouterr().out
