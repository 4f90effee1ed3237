"""Writes MATRIX.md from the results of releases: release x surface x mode.

    tpudist matrix --releases all --project ".[test]" -- \\
        pytest tests/conformance tests/contrib tests/native --junitxml=DIR/{release}.xml
    python compat/make/matrix.py DIR

DIR has one JUnit file of pytest per release, ``NAME.xml``.
"""

import collections
import datetime
import pathlib
import re
import sys
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent.parent

#: The columns: (surface, mode).
COLUMNS = [
    ("contrib", "graph"),
    ("contrib", "eager"),
    ("v2_0", "graph"),
    ("v2_0", "function"),
    ("v2_2", "graph"),
    ("v2_2", "function"),
    ("native TPU", "graph"),
]

_TITLE = """# The matrix

Written on %s by

    %s
    python compat/make/matrix.py DIR

Each entry counts the conformance cases of a release, a surface and a mode on
the virtual TPU (the last column: cases on the native TPU graph of a described
system). "listed" cases fail as `differences/` says, "not available" ones ask
for something that the release does not have. A release without a column of
eager functions starts in graph mode (TensorFlow 1). TensorFlow 2.20 is the newest
that a TPU runs: there is no tensorflow-tpu of 2.21.

"""

_COMMAND = r"""tpudist matrix --releases all --project ".[test]" -- \
        pytest tests/conformance tests/contrib tests/native --junitxml=DIR/{release}.xml"""


def main(argv=None):
    """Writes ``MATRIX.md``; returns 0 if no case failed."""
    (folder,) = sys.argv[1:] if argv is None else argv
    cells = {path.stem: read(path) for path in sorted(pathlib.Path(folder).glob("*.xml"))}
    text = page(cells, datetime.date.today())
    (HERE / "MATRIX.md").write_text(text)
    print(text)
    return int("FAILED" in text)


def read(path):
    """{(surface, mode): Counter of outcomes} of one release."""
    counts = collections.defaultdict(collections.Counter)
    for case in xml.etree.ElementTree.parse(str(path)).iter("testcase"):
        column = column_of(case.get("classname"), case.get("name"))
        if column:
            counts[column][outcome(case)] += 1
    return counts


def column_of(module, name):
    """The (surface, mode) that a test is about, or None."""
    words = set(re.split(r"[\[\]-]", name))
    if module.startswith("tests.native"):
        return "native TPU", "graph"
    mode = "eager" if "eager" in words else "function" if "function" in words else "graph"
    if module.startswith("tests.contrib"):
        if words & {"graph", "graph_v1", "eager"}:
            return "contrib", mode
        return None
    surface = words & {"v2_0", "v2_2"}
    if not surface or not words & {"graph", "function"}:
        return None
    return surface.pop(), mode


def outcome(case):
    """passed, failed, listed or missing."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    if skipped is None:
        return "passed"
    return "listed" if skipped.get("type") == "pytest.xfail" else "missing"


def page(cells, date):
    """The text of MATRIX.md."""
    head = ["TensorFlow"] + [
        "%s, %s" % (surface.replace("v2_", "2."), mode) for surface, mode in COLUMNS
    ]
    lines = ["| %s |" % " | ".join(head), "|%s" % ("---|" * len(head))]
    for name in sorted(cells, key=_order):
        entries = [entry(cells[name].get(column, {})) for column in COLUMNS]
        lines.append("| %s |" % " | ".join([name] + entries))
    return _TITLE % (date.isoformat(), _COMMAND) + "\n".join(lines) + "\n"


def entry(counts):
    """What stands in one place of the table."""
    if counts.get("failed"):
        return "FAILED %d" % counts["failed"]
    if not counts.get("passed"):
        return "not available"
    found = ["passed %d" % counts["passed"]]
    if counts.get("listed"):
        found.append("listed %d" % counts["listed"])
    if counts.get("missing"):
        found.append("not available %d" % counts["missing"])
    return ", ".join(found)


def _order(name):
    release, _, variant = name.partition("-")
    return [int(part) for part in re.findall(r"\d+", release)], variant


if __name__ == "__main__":
    sys.exit(main())
