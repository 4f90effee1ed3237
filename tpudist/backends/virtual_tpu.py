"""The operations of a strategy on the virtual TPU (:mod:`tpudist.virtual`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

import tensorflow as tf

from tpudist.backends.backend import Backend
from tpudist.input import distributed_datasets
from tpudist.tfcompat import distributed, functions, versions
from tpudist.virtual import reductions
from tpudist.virtual.input import inputs
from tpudist.virtual.replicas import replicate

if TYPE_CHECKING:
    from typing import Callable

    from tpudist.annotations import (
        Args,
        Dataset,
        DatasetFn,
        Fn,
        InputFn,
        InputMode,
        Kwargs,
        Options,
        T,
    )
    from tpudist.tfcompat.annotations import DataIterator, DistributedDataset, Nest


class VirtualBackend(Backend):
    """``VirtualExtended``: N replicas on one real device."""

    __slots__ = ()

    def run(self, fn: Fn, args: Args, kwargs: Kwargs, options: Options) -> Nest:
        """See the base class; options have no effect."""
        with distributed.scope_if_needed(self.scope):
            results = self.extended.call_for_each_replica(fn, args=args, kwargs=kwargs)
            return distributed.as_per_replica(self.extended, results)

    def replicate(self, fn: Fn, args: Args, kwargs: Mapping[str, Any]) -> Nest:
        """See the base class. In eager mode it is done op by op."""
        if not tf.executing_eagerly():
            return self.extended.call_for_each_replica(fn, args=args, kwargs=kwargs)
        return replicate.call_for_each_replica(self.extended, fn, args, kwargs, op_by_op=True)

    def mirror(self, value: object, copies: int) -> Nest:
        if copies == 1:
            return value
        with self.extended.place():
            return distributed.mirrored(self.extended, reductions.copies(value, copies))

    def distribute_dataset(self, dataset: Dataset, options: Options) -> DistributedDataset:
        if distributed_datasets.needs_split(self.strategy, dataset):
            return distributed_datasets.SplitDataset(
                self.strategy, dataset, self.pipeline_devices()
            )
        return super().distribute_dataset(dataset, options)

    def _for_sessions(self) -> bool:
        return functions.in_session_graph() and not versions.ITERATORS_ARE_ARGUMENTS

    def per_replica_dataset(self, dataset_fn: DatasetFn, dataset_class: Callable[..., T]) -> T:
        return super().per_replica_dataset(inputs.checked(self.extended, dataset_fn), dataset_class)

    def make_dataset_iterator(self, dataset: Dataset) -> DataIterator:
        if versions.HAS_INPUT_LIB:
            return super().make_dataset_iterator(dataset)
        return distributed_datasets.SplitDataset(
            self.strategy, dataset, self.pipeline_devices()
        ).iterator()

    def make_input_fn_iterator(
        self, input_fn: InputFn, replication_mode: tuple[InputMode, ...]
    ) -> DataIterator:
        if versions.HAS_INPUT_LIB:
            return super().make_input_fn_iterator(input_fn, replication_mode)
        return distributed_datasets.FunctionDataset(
            self.strategy, input_fn, self.pipeline_devices()
        ).iterator()

    def _host_devices(self) -> list[str]:
        return list(map(self.extended.get_host_cpu_device, range(self.extended.num_hosts)))
