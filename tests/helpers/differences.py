"""What a TensorFlow release cannot do: ``compat/differences/<release>``.

An entry is a pattern of test ids (``*`` stands for anything) and, indented
below it, the reason with a link. A listed test must fail there.
"""

import collections
import fnmatch
import pathlib

import pytest

from tests import ROOT

FOLDER = pathlib.Path(ROOT) / "compat" / "differences"

Entry = collections.namedtuple("Entry", "pattern reason")


def read(release, folder=FOLDER):
    """The entries of a release, a list; empty if it has no file.

    Raises:
      ValueError: a pattern has no reason, or a reason no link.
    """
    file = folder / str(release)
    if not file.exists():
        return []
    entries = []
    for line in file.read_text("utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if not line[0].isspace():
            entries.append(Entry(line.strip(), ""))
        else:
            pattern, reason = entries.pop()
            entries.append(Entry(pattern, (reason + " " + line.strip()).strip()))
    for entry in entries:
        if "https://" not in entry.reason:
            raise ValueError("%s: %s has no reason with a link" % (file, entry.pattern))
    return entries


def matches(entry, nodeid):
    """Whether `entry` lists the test of that id."""
    return fnmatch.fnmatchcase(nodeid, entry.pattern.replace("[", "[[]"))


def apply(entries, items, whole_files):
    """Makes strict expected failures of the listed tests.

    Args:
      entries: what :func:`read` returned.
      items: the collected tests.
      whole_files: whether all tests of each file were collected, so that an
        entry without a test is known to be stale.

    Raises:
      pytest.UsageError: an entry matches no test of its file.
    """
    files = {item.nodeid.split("::")[0] for item in items}
    for entry in entries:
        found = [item for item in items if matches(entry, item.nodeid)]
        for item in found:
            item.add_marker(pytest.mark.xfail(reason=entry.reason, strict=True))
        if not found and whole_files and entry.pattern.split("::")[0] in files:
            raise pytest.UsageError("compat/differences: %s matches no test" % entry.pattern)
