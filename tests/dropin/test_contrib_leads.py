"""The table's answer for a name of contrib is the one that the drop-in namespace gives."""

import functools
import importlib

import pytest

from tests.helpers.generations import second_generation
from tpudist import surfaces
from tpudist.dropin import namespace
from tpudist.surfaces import leads
from tpudist.tools.migrate.resolution import tensorflow_names

pytest.importorskip("tensorflow")

NAMES = {
    module: sorted("%s.%s" % (module, name) for name in names)
    for module, names in surfaces.CONTRIB_NAMES.items()
    if names
}


def read(contrib, full):
    """The object that a program reads under a full name, None if there is none."""
    below = tensorflow_names.below_tensorflow(full)
    found = None if below is None else answer(contrib, below)
    if found is not None or (below or "python.").partition(".")[0] != "python":
        return found
    words = full.split(".")
    for end in range(len(words), 0, -1):
        try:
            module = importlib.import_module(".".join(words[:end]))
            return functools.reduce(getattr, words[end:], module)
        except (ImportError, AttributeError):
            continue  # the last words are attributes of a module, or nobody has them
    return None


def answer(contrib, name):
    """What the drop-in namespace has under a name, None if it is gone."""
    value = contrib
    for word in name.split("."):
        if not hasattr(value, word):
            return None
        value = getattr(value, word)
    return value


#: Names that a private module had on some releases after 1.15, and the newest has not.
ENDED = ("contrib.summary.create_db_writer",)


@second_generation
@pytest.mark.parametrize("module", sorted(NAMES))
def test_the_drop_in_gives_what_the_table_says(contrib, module):
    wrong = {}
    for name in NAMES[module]:
        found, lead = answer(contrib, name), leads.lead(name)
        expected = read(contrib, lead.target) if lead.target else None
        over = namespace.bases_of(found) if isinstance(found, namespace.Namespace) else [found]
        if expected not in over + [found] and name not in ENDED:
            wrong[name] = (lead, found)
    assert wrong == {}
