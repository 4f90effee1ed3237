"""Every code block of the reference pages runs with the era's drop-in import.

The pages lie beside the checkout where tpudist is developed; where they do not,
the tests that read them are skipped. What a block leaves undefined is filled in
by ``tests/pages/cases.py``, where the blocks that cannot run are listed too.
"""

import importlib
import inspect
import json
import os
import pathlib
import subprocess
import sys

import pytest

from tests.pages import blocks, cases
from tpudist.tfcompat import versions

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = ROOT.parent / "shared" / "reference"
ERAS = {
    "contrib_TPUStrategy.md": "contrib",
    "v2_0_TPUStrategy.md": "v2_0",
    "v2_0_Strategy.md": "v2_0",
    "v2_2_TPUStrategy.md": "v2_2",
}

HERE = PAGES.is_dir()
needs_pages = pytest.mark.skipif(
    not HERE, reason="the reference pages are not beside this checkout: no %s" % PAGES
)


def found():
    """The blocks of all pages; none where there are no pages."""
    return [
        block
        for page in (ERAS if HERE else ())
        for block in blocks.of_page(page, (PAGES / page).read_text("utf-8"))
    ]


BLOCKS = found()
EXAMPLES = [block for block in BLOCKS if block.kind != "signature"]
SIGNATURES = [block for block in BLOCKS if block.kind == "signature"]


def by_id(block):
    return block.id


def cannot(block):
    """The `Cannot` that applies to a block on this TensorFlow, or None."""
    release = versions.TF.release
    for entry in cases.CANNOT.get(block.id, ()):
        if (entry.since or release) <= release and not (entry.until and release >= entry.until):
            return entry
    return None


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What became of each example, by id; a page runs when first asked for."""
    done = {}

    def outcome(block):
        page = block.id.partition("#")[0]
        if page not in done:
            done[page] = run_page(page, tmp_path_factory.mktemp("page"))
        return done[page][block.id]

    return outcome


def run_page(page, folder):
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TPU")}
    environ.update(TPUDIST_TPU="virtual:8", PYTHONPATH=str(ROOT), CUDA_VISIBLE_DEVICES="-1")
    child = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "tests.pages.child",
            ERAS[page],
            str(PAGES / page),
            str(folder),
        ],
        cwd=str(ROOT),
        env=environ,
        timeout=600,
        capture_output=True,
        text=True,
    )
    assert child.returncode == 0, "%s ended with %d\n%s" % (
        page,
        child.returncode,
        child.stderr[-5000:],
    )
    return json.loads(child.stdout.splitlines()[-1])


@needs_pages
@pytest.mark.parametrize("block", EXAMPLES, ids=by_id)
def test_example_of_a_page(block, outcomes):
    outcome, entry = outcomes(block), cannot(block)
    where = "%s, line %d" % (block.id, block.line)
    if entry is None:
        assert outcome["error"] is None, "%s\n%s\n%s: %s" % (
            where,
            block.code,
            outcome["error"],
            outcome["text"],
        )
        return
    assert outcome["error"] is not None, "%s runs: take it out of cases.CANNOT (%s)" % (
        where,
        entry.reason,
    )
    assert outcome["error"] == entry.error, "%s: %s" % (where, outcome["text"])


def described(block):
    """The callable whose signature a block prints."""
    page, name = block.id.partition("#")[0], blocks.parameters(block.code)[0]
    strategy = importlib.import_module("tpudist." + ERAS[page]).TPUStrategy
    if name == "__init__" and page == "v2_0_Strategy.md":
        import tensorflow as tf

        return tf.distribute.Strategy.__init__
    if name.endswith(".TPUStrategy"):
        name = "__init__"
    return getattr(strategy, name)


@needs_pages
@pytest.mark.parametrize("block", SIGNATURES, ids=by_id)
def test_signature_of_a_page(block):
    _, printed = blocks.parameters(block.code)
    actual = list(inspect.signature(described(block)).parameters.values())
    assert actual[0].name == "self"
    actual = [one.replace(annotation=inspect.Parameter.empty) for one in actual[1:]]
    assert actual == list(printed.parameters.values())


@needs_pages
def test_all_pages_are_read():
    kinds = [block.kind for block in BLOCKS]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "signature": 49,
        "example": 21,
        "doctest": 3,
    }
    assert len({block.id for block in BLOCKS}) == len(BLOCKS)
    assert {page.name for page in PAGES.glob("*.md")} == set(ERAS)


@needs_pages
def test_no_case_is_stale():
    ids = {block.id for block in EXAMPLES}
    assert set(cases.CASES) | set(cases.CANNOT) <= ids
    assert ids <= set(cases.CASES) | set(cases.CANNOT)
    assert all(len(entry.reason) > 20 for entries in cases.CANNOT.values() for entry in entries)
