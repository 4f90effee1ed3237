"""Batching over replicas: the ops between two merges, done once for all replicas.

The replicas of a slice run one program on equal shares of a batch. On one device the same
program on the whole batch gives each replica the same values, with a few large ops in place of
many small ones.

The one entry is :func:`batch_segment`; `TPUDIST_VECTORIZE=0` closes it, and every op is done
once per replica. A batched value (:mod:`values`) stands for one tensor of the trace in
all replicas; a batching rule (:mod:`rules`) does an op of one type on batched values.
"""

from tpudist.virtual.vectorize.batching import BatchedSegment, batch_segment, read_or_assign
from tpudist.virtual.vectorize.values.batched_values import Uniform
from tpudist.virtual.vectorize.values.layouts import from_replicas

__all__ = ["BatchedSegment", "Uniform", "batch_segment", "from_replicas", "read_or_assign"]
