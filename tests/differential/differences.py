"""Differences from MirroredStrategy that the virtual TPU has on purpose.

Each with a reason, and with a program that shows it: a difference that is
gone must leave this table (`test_differences.py`).
"""

import collections

from tpudist.tfcompat import versions

#: reason: why the TPU, or the virtual TPU, is right to differ.
#: expected, actual: how MirroredStrategy and the virtual TPU end a program:
#: (an exception's class name, a part of its message); None for no exception,
#: ANY for either.
#: mode, program: one that shows it; exists: whether this release has it.
Difference = collections.namedtuple("Difference", "name reason expected actual mode program exists")
ANY = ("", "")


def _program(aggregation, *actions, **options):
    variable = {
        "sync": "AUTO",
        "dtype": "float32",
        "shape": (),
        "initial": 3,
        "aggregation": aggregation,
    }
    return dict(options, variables=[variable], actions=list(actions))


TABLE = [
    Difference(
        "split after trace",
        "The TPU keeps a variable without aggregation once per core, and so "
        "does MirroredStrategy. The virtual TPU stores it once until a replica function "
        "assigns it what replicas may not share; a graph built before that uses the one "
        "stored value, so the assignment is refused rather than missed.",
        ANY,
        ("ContextError", "a graph built earlier uses it as one"),
        "function",
        _program(
            "NONE",
            ("run", [("read", 0, "value")], "plain"),
            ("run", [("assign", 0, "assign", "id", 1, False)], "plain"),
        ),
        versions.ASSIGN_WITHOUT_AGGREGATION,
    ),
    Difference(
        "all-reduce in a graph",
        "In a TF 1 graph MirroredStrategy cannot all-reduce what depends on a "
        "variable: it looks for the variable behind the sum and finds another "
        "replica's. A TPU's replicas are one program, so there it works.",
        ("ValueError", "Unsuccessful at finding variable"),
        None,
        "graph",
        _program("SUM", ("run", [("gradient", 0)], "plain"), detours=False),
        True,
    ),
    Difference(
        "meeting in a given tf.function",
        "Until 2.1 MirroredStrategy calls a tf.function that is given to it as one, in which "
        "its replicas cannot meet. To a TPU it is a part of the one program, and from 2.2 on "
        "MirroredStrategy takes the Python function out of it too. What the program does "
        "after that cannot be compared.",
        ("RuntimeError", "`merge_call` called while defining a new graph"),
        ANY,
        "function",
        _program("SUM", ("run", [("all_reduce", "SUM", False)], "function")),
        versions.DEVICE_MAP,
    ),
    Difference(
        "zero as a Python number",
        "From 2.13 on MirroredStrategy takes a zero that is assigned to a variable with "
        "aggregation SUM for an array, and fails as a Python number has no shape. Before 2.13, "
        "and on the virtual TPU, the sum of the replicas' zeros is zero.",
        ("AttributeError", "'int' object has no attribute 'shape'"),
        ANY,
        "function",
        _program("SUM", ("run", [("assign", 0, "assign", "python", 0, False)], "plain")),
        versions.GRAPHS_ADD_FUNCTIONS,  # a flag of the same releases: 2.13 and newer
    ),
    Difference(
        "mean of known sizes",
        "Up to 2.1 MirroredStrategy cannot reduce by MEAN along an axis of "
        "which the graph knows the size: it takes the number of examples for "
        "an undistributed value. The page of TensorFlow 2.0 promises the mean.",
        ("ValueError", "A non-DistributedValues value"),
        None,
        "function",
        _program("SUM", ("uneven", "MEAN", 2), detours=False),
        versions.DEVICE_MAP,
    ),
]


def excuse(expected, actual):
    """The name of the difference between the ends of two outcomes; None if none fits."""
    for row in TABLE:
        if row.exists and _fits(row.expected, expected.error) and _fits(row.actual, actual.error):
            return row.name
    return None


def _fits(pattern, error):
    if pattern is ANY:
        return True
    if pattern is None or error is None:
        return pattern is error
    cls, text = pattern
    return type(error).__name__ == cls and text in str(error)
