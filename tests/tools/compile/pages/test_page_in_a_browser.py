"""The page in a real browser: Chromium, where one is found (.ci/run says which)."""

import pytest

from tests.helpers import browser
from tests.tools.compile import records
from tpudist.tools.compile.pages import html_report

WIDTH, HEIGHT = 500, 700


@pytest.fixture
def opened(tmp_path):
    """Opens a page: returns (its document, the rows of pixels of its picture)."""
    return lambda text: browser.opened(tmp_path, (WIDTH, HEIGHT), text)


def test_the_page_shows_memory_and_the_cost_tree(opened):
    held = [1 << 30] * 50 + [4 << 30] * 25 + [2 << 30] * 25
    document, picture = opened(html_report.page(records.a_report(held=tuple(held))))
    assert "Memory over the program" in document and document.count("<details>") == 6
    orange = [
        [y for y in range(HEIGHT) if picture[y][x] == (0xE0, 0x8A, 0x3C)] for x in range(WIDTH)
    ]
    # Above the picture is the bar of a device's memory, with little in it.
    shape = [[y for y in column if y > HEIGHT // 5] for column in orange]
    left, right = [f(x for x in range(WIDTH) if shape[x]) for f in (min, max)]
    heights = [len(shape[round(left + part * (right - left))]) for part in (0.25, 0.65, 0.9)]
    assert heights[0] > 20
    assert heights[1] == pytest.approx(4 * heights[0], rel=0.1)
    assert heights[2] == pytest.approx(2 * heights[0], rel=0.1)


def test_the_cost_tree_opens(opened):
    made = html_report.page(records.a_report(held=(), alive=()))
    closed, open_ = opened(made)[1], opened(made.replace("<details>", "<details open>"))[1]
    assert bars(open_) > bars(closed) > 0


def bars(picture):
    """How many pixels are of bars of the tree."""
    return sum(row.count((0xE8, 0xC4, 0x9C)) for row in picture)
