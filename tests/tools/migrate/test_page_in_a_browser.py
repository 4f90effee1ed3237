"""The report in a real browser: Chromium, where one is found (.ci/run says which)."""

import re

import pytest

from tests.helpers import browser
from tests.tools.migrate import harness
from tpudist import cli

#: Writes down how wide the page is, and whether a cell's text goes beyond it.
_MEASURE = """<script>
const cells = [...document.querySelectorAll("td")];
const wide = cells.filter(each => each.scrollWidth > each.clientWidth);
document.title = document.documentElement.scrollWidth + " " + wide.length;
</script>"""


@pytest.mark.parametrize("width", [1300, 800])
def test_the_tables_fit_the_window(tmp_path, capsys, width):
    tree, path = tmp_path / "tree", tmp_path / "report.html"
    owner = "very_long" + ".very_long" * 40
    text = harness.OLD + harness.USE + "%s.experimental_run_v2(f)\n" % owner
    text += "import tensorflow.contrib.%s as x\n" % ("w" * 90)
    harness.put(tree, {"package/%s.py" % ("a" * 120): text, "b.py": "print 1  # tf.contrib\n"})
    cli.main(["migrate", str(tree), "--to", "latest", "--report", "html"])
    page = capsys.readouterr().out
    assert page.count("very_long") >= 40 and "refused" in page
    path.write_text(page + _MEASURE, "utf-8")
    document = browser.run(tmp_path, (width, 900), "--dump-dom", path.as_uri())
    title = re.search(r"<title>(\d+) (\d+)</title>", document)
    assert title is not None
    assert int(title.group(1)) <= width and title.group(2) == "0"
