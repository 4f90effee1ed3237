"""A real browser: Chromium, where one is found (.ci/run says which)."""

import os
import shutil
import subprocess

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
