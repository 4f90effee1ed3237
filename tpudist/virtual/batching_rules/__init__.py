"""The rules by which the replicas of a program are joined; see :mod:`node`."""

from tpudist.virtual.batching_rules import axes, elementwise, examples  # noqa: F401 (they register)
from tpudist.virtual.batching_rules.node import LINEAR, RESHAPES, RULES, Node

__all__ = ["LINEAR", "RESHAPES", "RULES", "Node"]
