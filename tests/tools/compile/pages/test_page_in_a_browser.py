"""The page in a real browser: Chromium, where one is found (.ci/run says which)."""

import struct
import zlib

import pytest

from tests.helpers import browser
from tests.tools.compile import records
from tpudist.tools.compile.pages import html_report

WIDTH, HEIGHT = 500, 700


@pytest.fixture
def opened(tmp_path):
    """Opens a page: returns (its document, the rows of pixels of its picture)."""

    def show(text):
        path, picture = tmp_path / "report.html", tmp_path / "page.png"
        path.write_text(text, "utf-8")
        document, _ = [
            browser.run(tmp_path, (WIDTH, HEIGHT), option, path.as_uri())
            for option in ("--dump-dom", "--screenshot=%s" % picture)
        ]
        return document, pixels(picture.read_bytes())

    return show


def pixels(png):
    """Rows of (red, green, blue) of a PNG without interlacing."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert depth == 8 and kind in (2, 6)
    size, data, place = {2: 3, 6: 4}[kind], b"", 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        if png[place + 4 : place + 8] == b"IDAT":
            data += png[place + 8 : place + 8 + length]
        place += length + 12
    raw, before, rows = zlib.decompress(data), bytes(width * size), []
    for number in range(height):
        start = number * (width * size + 1)
        before = unfiltered(raw[start], raw[start + 1 : start + 1 + width * size], before, size)
        rows.append([tuple(before[x : x + 3]) for x in range(0, width * size, size)])
    return rows


def unfiltered(kind, line, above, size):
    """A line of a PNG, whose bytes are differences to what is left of or above them."""
    made = bytearray(line)
    for place, each in enumerate(line):
        left = made[place - size] if place >= size else 0
        corner = above[place - size] if place >= size else 0
        guess = left + above[place] - corner
        nearest = min((left, above[place], corner), key=lambda value: abs(guess - value))
        added = (0, left, above[place], (left + above[place]) // 2, nearest)[kind]
        made[place] = (each + added) & 255
    return bytes(made)


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
