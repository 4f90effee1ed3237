"""A real browser: Chromium, where one is found (.ci/run says which)."""

import os
import shutil
import struct
import subprocess
import zlib

import pytest

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")


def run(folder, size, *arguments):
    """What a window of (width, height) prints; its profile is kept in a folder.

    The test is skipped where no browser is installed.
    """
    found = os.environ.get("TPUDIST_TEST_BROWSER") or next(
        filter(None, map(shutil.which, NAMES)), None
    )
    if found is None:
        pytest.skip("no Chromium is installed: apt-get install chromium, or TPUDIST_TEST_BROWSER")
    done = subprocess.run(
        [
            *(found, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *("--user-data-dir=%s" % folder, "--window-size=%d,%d" % size),
            *arguments,
        ],
        capture_output=True,
        timeout=120,
        check=True,
    )
    return done.stdout.decode("utf-8")


def opened(folder, size, text):
    """Opens a page in a window: returns (its document, the rows of pixels of its picture)."""
    path, picture = folder / "report.html", folder / "page.png"
    path.write_text(text, "utf-8")
    document, _ = [
        run(folder, size, option, path.as_uri())
        for option in ("--dump-dom", "--screenshot=%s" % picture)
    ]
    return document, pixels(picture.read_bytes())


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
