"""The report in a real browser: Chromium, where one is found (.ci/run says which)."""

import os
import re
import shutil
import subprocess

import pytest

from tests.migrate import harness
from tpudist import cli

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
#: Writes down how wide the page is, and whether a cell's text goes beyond it.
_MEASURE = """<script>
const cells = [...document.querySelectorAll("td")];
const wide = cells.filter(each => each.scrollWidth > each.clientWidth);
document.title = document.documentElement.scrollWidth + " " + wide.length;
</script>"""


@pytest.fixture(scope="module")
def browser():
    found = os.environ.get("TPUDIST_TEST_BROWSER") or next(
        filter(None, map(shutil.which, NAMES)), None
    )
    if found is None:
        pytest.skip("no Chromium is installed: apt-get install chromium, or TPUDIST_TEST_BROWSER")
    return found


@pytest.mark.parametrize("width", [1300, 800])
def test_the_tables_fit_the_window(browser, tmp_path, capsys, width):
    tree, path = tmp_path / "tree", tmp_path / "report.html"
    owner = "very_long" + ".very_long" * 40
    text = harness.OLD + harness.USE + "%s.experimental_run_v2(f)\n" % owner
    text += "import tensorflow.contrib.%s as x\n" % ("w" * 90)
    harness.put(tree, {"package/%s.py" % ("a" * 120): text, "b.py": "print 1  # tf.contrib\n"})
    cli.main(["migrate", str(tree), "--to", "latest", "--report", "html"])
    page = capsys.readouterr().out
    assert page.count("very_long") >= 40 and "refused" in page
    path.write_text(page + _MEASURE, "utf-8")
    done = subprocess.run(
        [
            *(browser, "--headless", "--no-sandbox", "--disable-gpu"),
            *("--user-data-dir=%s" % tmp_path, "--window-size=%d,900" % width),
            *("--dump-dom", path.as_uri()),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=120,
        check=True,
    )
    title = re.search(r"<title>(\d+) (\d+)</title>", done.stdout.decode("utf-8"))
    assert title is not None
    assert int(title.group(1)) <= width and title.group(2) == "0"
