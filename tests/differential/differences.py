"""Differences from MirroredStrategy that the virtual TPU has on purpose.

Each with a reason, and with a program that shows it: a difference that is
gone must leave this table (`test_differences.py`).
"""

import collections

#: What MirroredStrategy and the virtual TPU end a program with: an exception's
#: class name and a part of its message; None for no exception, ANY for either.
Difference = collections.namedtuple("Difference", "name reason expected actual")
ANY = ("", "")

TABLE = [
    Difference(
        "split after trace",
        "The TPU keeps a variable without aggregation once per core, and so "
        "does MirroredStrategy. The virtual TPU stores it once until a replica "
        "function assigns it; a function traced before that already reads the "
        "one stored value, so the assignment is refused rather than missed.",
        ANY, ("ContextError", "a graph built earlier uses it as one")),
]


def excuse(expected, actual):
    """The name of the difference between two outcomes; None if none fits."""
    for row in TABLE:
        if _fits(row.expected, expected.error) and _fits(row.actual,
                                                         actual.error):
            return row.name
    return None


def _fits(pattern, error):
    if pattern is ANY:
        return True
    if pattern is None or error is None:
        return pattern is error
    cls, text = pattern
    return type(error).__name__ == cls and text in str(error)
