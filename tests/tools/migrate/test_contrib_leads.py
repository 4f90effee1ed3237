"""What is written for a name of contrib is what the table says, resolves, and takes its arguments.

``cases/signatures_1_15.txt``: the parameters that the names had in TensorFlow 1.15, of all
that have a successor; written by ``compat/make/contrib_signatures.py`` there.
"""

import functools
import importlib
import json
import os

import pytest

from compat.make import contrib_signatures
from tests.tools.migrate import harness
from tpudist import surfaces
from tpudist.surfaces import leads

NAMES = sorted(
    "%s.%s" % (module, name) for module, names in surfaces.CONTRIB_NAMES.items() for name in names
)


def recorded():
    """{name of contrib: its parameters in 1.15, ``name`` or ``name=default``}."""
    with open(os.path.join(harness.CASES, "signatures_1_15.txt"), encoding="utf-8") as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    return {row[0]: row[1:] for row in rows if row}


def successor(name):
    """(full name that is written for a name of contrib, its parameters), (None, None) if none."""
    moved = surfaces.MOVED.get(name)
    if moved:
        return "tensorflow.compat.v1." + moved, None
    new = leads.successor(name)
    return (new.target, new) if new else (None, None)


SUCCESSORS = {name: successor(name) for name in NAMES if successor(name)[0]}


#: Names whose rule knows more than the table.
_RULES = ("get_loss_reduction", "get_cross_tower_context", "in_cross_replica_context")

#: Names that nobody carries on: of each module the first, which the others are told like.
GONE = {name.rpartition(".")[0]: name for name in reversed(NAMES) if not SUCCESSORS.get(name)}
TOLD = sorted(name for name in GONE.values() if name not in surfaces.NAMES["v2_0"])


def test_what_is_written_for_every_name_of_contrib_is_what_the_table_says(tmp_path):
    """Names in one file: rewritten to the table's successor, or left with its words."""
    names = sorted(SUCCESSORS) + TOLD
    lines = ["import tensorflow as tf"] + ["x = tf.%s" % name for name in names]
    harness.put(tmp_path, {"a.py": "\n".join(lines) + "\n"})
    result = harness.results(tmp_path, "latest")["a.py"]
    left = {use.line: use for use in result.left}
    after = [line[4:] for line in result.after.decode().splitlines() if line.startswith("x = ")]
    expected = [_written(SUCCESSORS[name][0]) for name in sorted(SUCCESSORS)]
    assert after == expected + ["tf." + name for name in TOLD]
    for index, name in enumerate(TOLD, len(SUCCESSORS) + 2):
        assert left[index].instead == leads.gone_text(name) or name.endswith(_RULES), name


def _written(full):
    """How a program says a full name."""
    for start, short in {
        "tensorflow.compat.v1.": "tf.",
        "tensorflow_probability.": "tfp.",
        "tpudist.legacy.contrib_ports.": "contrib_ports.",
    }.items():
        if full.startswith(start):
            return short + full[len(start) :]
    return full


def installed(full):
    """The object of a full name, for a package that is installed; else the test is skipped."""
    package = full.partition(".")[0]
    pytest.importorskip(package)
    if package == "tf_slim":
        importlib.import_module("tf_slim.nets")
    if package == "tpudist":
        importlib.import_module("tpudist.legacy.contrib_ports")
    return functools.reduce(getattr, full.split(".")[1:], importlib.import_module(package))


@pytest.mark.parametrize("package", ["tensorflow", "tf_slim", "tensorflow_probability", "tpudist"])
def test_what_is_written_resolves_and_takes_the_arguments_of_1_15(package):
    pytest.importorskip("tensorflow", minversion="2.16", reason="what is written to latest")
    wrong, known = {}, recorded()
    for name, (full, kept) in SUCCESSORS.items():
        if full.partition(".")[0] == package and not full.startswith(_KERAS_2):
            value = installed(full)
            today = contrib_signatures.parameters(value)
            if name in known and not _is_same(known[name], today, kept) and name not in _SLURM:
                wrong[name] = (known[name], today)
    assert wrong == {}, json.dumps(wrong, indent=1)


#: Its numbers of GPUs are read from Slurm today, if none are given.
_SLURM = ("contrib.cluster_resolver.SlurmClusterResolver",)
#: With Keras 2 alone; told where it is written.
_KERAS_2 = "tensorflow.compat.v1.nn.rnn_cell."


def _is_same(old, new, kept):
    """Whether a call with the old parameters, or with the kept ones, means the same."""
    if kept is not None and kept.parameters is not None:
        names, was = [[each.partition("=")[0] for each in each] for each in (new, old)]
        kept_names = list(kept.parameters.values())
        return (
            was[: kept.places] == list(kept.parameters)[: kept.places]
            and names[: kept.places] == kept_names[: kept.places]
            and set(kept_names) <= set(names)
            and set(kept.parameters) <= set(was)
        )
    if old == ["*args", "**kwargs"]:  # decorated: it does not say
        return True
    same = all(map(_is_same_parameter, old, new)) and len(old) <= len(new)
    return same and all("=" in each or each.startswith("*") for each in new[len(old) :])


def _is_same_parameter(old, new):
    """Whether a parameter has its name and default still; the default of a name may be another."""
    (name, _, default), (today, _, other) = old.partition("="), new.partition("=")
    free = name == "name" or "?" in (default, other) or not default
    return name == today and (default == other or free)


@pytest.mark.parametrize("name", sorted(surfaces.PARAMETERS))
def test_names_with_other_arguments_are_recorded(name):
    assert name in SUCCESSORS and name in recorded()
