"""Batching over replicas: the ops between two merges, done once for all replicas.

On one device a few large ops on the whole batch give each replica the values of its share. The
one entry is :func:`batch_segment`; `TPUDIST_VECTORIZE=0` closes it. A batched value
(:mod:`values`) stands for one tensor of the trace in all replicas; a batching rule (:mod:`rules`)
does an op of one type on batched values.
"""

from tpudist.virtual.vectorize.batching import BatchedSegment, batch_segment, read_or_assign
from tpudist.virtual.vectorize.values.batched_values import Uniform
from tpudist.virtual.vectorize.values.layouts import from_replicas

__all__ = ["BatchedSegment", "Uniform", "batch_segment", "from_replicas", "read_or_assign"]
