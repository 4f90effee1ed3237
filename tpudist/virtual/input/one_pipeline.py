"""Which datasets one pipeline can make for all hosts, with the same batches for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import nests, versions

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import Extended


#: What the ops and classes of datasets that read files are called. TensorFlow shares the
#: files out among the hosts if it can (auto_shard.cc, r2.5: kReaderDatasetOps).
_READERS = ("record", "textline", "sstable", "parquet", "csv", "sql", "files")

#: Classes of datasets with no input that read no file.
_SOURCES = (
    "TensorDataset",
    "TensorSliceDataset",
    "SparseTensorSliceDataset",
    "GeneratorDataset",
    "RangeDataset",
)


def fits(extended: Extended, dataset: Any, options: Any = None) -> bool:
    """Whether every host can take its share of the same global batches.

    Args:
      extended: the `VirtualExtended`.
      dataset: what is to be distributed.
      options: ``tf.distribute.InputOptions`` or None.
    """
    if not versions.LOOPS_ASK_THE_ITERATOR or extended._num_replicas_in_sync == 1:
        return False
    if options is not None and options.experimental_replication_mode.name == "PER_REPLICA":
        return False
    specs = nests.flatten(getattr(dataset, "element_spec", None))
    if not specs or not all(map(_is_dense, specs)):
        return False
    if extended.num_hosts == 1:
        return _is_even(specs, extended._num_replicas_in_sync)
    return _same_on_every_host(dataset)


def _is_dense(spec: Any) -> bool:
    return (
        type(spec) is tf.TensorSpec
        and bool(spec.shape.rank)
        and spec.dtype not in (tf.resource, tf.variant)
    )


def _is_even(specs: Any, count: int) -> bool:
    """Whether batches of these specs are divided into parts of one size."""
    if not all(spec.shape.is_fully_defined() for spec in specs):
        return False
    rows = {spec.shape.as_list()[0] for spec in specs}
    return len(rows) == 1 and 0 not in rows and rows.pop() % count == 0


def _same_on_every_host(dataset: Any) -> bool:
    """Whether the hosts share batches out, and neither files nor nothing."""
    policy = dataset.options().experimental_distribute.auto_shard_policy
    name = getattr(policy, "name", "AUTO")
    return name == "DATA" or name == "AUTO" and not _may_read_files(dataset)


def _may_read_files(dataset: Any) -> Any:
    adapted = getattr(dataset, "_dataset", None)
    if isinstance(adapted, tf.data.Dataset):  # a dataset of TensorFlow 1
        return _may_read_files(adapted)
    name = type(dataset).__name__
    if any(reader in name.lower() for reader in _READERS):
        return True
    if any(_reads_files(made.function) for made in dataset._functions()):
        return True
    try:
        inputs = dataset._inputs()
    except NotImplementedError:
        return True
    if not inputs:
        return name.lstrip("_") not in _SOURCES
    return any(map(_may_read_files, inputs))


def _reads_files(function: Any) -> bool:
    """Whether an op of the function, or of one that it calls, is a dataset of files."""
    graph = getattr(function, "graph", None)
    if graph is None:  # made by `map_with_legacy_function`
        return True
    made = graph.as_graph_def()
    ops = [node.op for node in made.node]
    ops += [node.op for called in made.library.function for node in called.node_def]
    return any(
        "dataset" in op.lower() and any(reader in op.lower() for reader in _READERS) for op in ops
    )
