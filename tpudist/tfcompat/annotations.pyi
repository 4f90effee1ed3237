"""TensorFlow's objects, as annotations name them; at run time there is no such module.

No stubs describe them. Each protocol has the members that this package uses, so that a checker
tells a wrong one; what TensorFlow itself returns is of any type and passes for each of them.
"""

from collections.abc import Callable, Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias, TypeVar

#: What a function is given and gives back, such as a structure of values.
T = TypeVar("T")

#: A function of a user's or of TensorFlow's, of replicas, of a variable or of a loop;
#: and what it is called with.
Fn: TypeAlias = Callable[..., Any]
Args: TypeAlias = Sequence[Any]
Kwargs: TypeAlias = Mapping[str, Any]

#: A tensor, or a list, tuple or dictionary of nests: what is in it, only its user knows.
Nest: TypeAlias = object

class DType(Protocol):
    """The type of a tensor's elements."""

    name: str
    size: int
    as_numpy_dtype: Any
    as_datatype_enum: int
    base_dtype: DType
    is_bool: bool
    is_complex: bool
    is_floating: bool
    is_integer: bool
    is_unsigned: bool
    _is_ref_dtype: bool
    min: Any
    max: Any

class Shape(Protocol):
    """A ``tf.TensorShape``: a size, or None, for each dimension."""

    dims: Sequence[Any] | None
    ndims: Any
    rank: Any
    def __bool__(self) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __getitem__(self, key: Any) -> Any: ...
    def as_list(self) -> list[Any]: ...
    def as_proto(self) -> Any: ...
    def concatenate(self, other: Any) -> Shape: ...
    def is_compatible_with(self, other: Any) -> bool: ...
    def is_fully_defined(self) -> bool: ...
    def merge_with(self, other: Any) -> Shape: ...
    def num_elements(self) -> Any: ...
    def with_rank(self, rank: int) -> Shape: ...

class Tensor(Protocol):
    """A tensor, symbolic or eager; arithmetic is TensorFlow's."""

    name: str
    dtype: DType
    device: str
    graph: Graph
    op: Operation
    value_index: int
    @property
    def shape(self) -> Shape: ...
    def __add__(self, other: Any) -> Tensor: ...
    def __radd__(self, other: Any) -> Tensor: ...
    def __sub__(self, other: Any) -> Tensor: ...
    def __rsub__(self, other: Any) -> Tensor: ...
    def __mul__(self, other: Any) -> Tensor: ...
    def __rmul__(self, other: Any) -> Tensor: ...
    def __truediv__(self, other: Any) -> Tensor: ...
    def __floordiv__(self, other: Any) -> Tensor: ...
    def __mod__(self, other: Any) -> Tensor: ...
    def __neg__(self) -> Tensor: ...
    def __lt__(self, other: Any) -> Tensor: ...
    def __le__(self, other: Any) -> Tensor: ...
    def __gt__(self, other: Any) -> Tensor: ...
    def __ge__(self, other: Any) -> Tensor: ...
    def __getitem__(self, key: Any) -> Tensor: ...
    def consumers(self) -> list[Operation]: ...
    def get_shape(self) -> Shape: ...
    def set_shape(self, shape: Any) -> None: ...
    def numpy(self) -> Any: ...

class Operation(Protocol):
    """An op of a graph."""

    name: str
    type: str
    device: str
    graph: Graph
    inputs: Sequence[Tensor]
    outputs: list[Tensor]
    control_inputs: list[Operation]
    node_def: NodeDef
    op_def: Any
    traceback: Any
    _c_op: Any
    def get_attr(self, name: str) -> Any: ...
    def _add_control_inputs(self, ops: Sequence[Operation]) -> None: ...
    def _get_control_flow_context(self) -> Any: ...
    def _set_attr(self, name: str, value: Any) -> None: ...
    def _update_input(self, index: int, tensor: Tensor) -> None: ...

class Graph(Protocol):
    """A graph of ops."""

    building_function: bool
    seed: int | None
    _device_functions_outer_to_inner: Sequence[Any]
    _distribution_strategy_stack: Any
    _variable_creator_stack: Any
    def as_default(self) -> AbstractContextManager[Any]: ...
    def as_graph_def(self, *args: Any, **kwargs: Any) -> GraphDef: ...
    def control_dependencies(self, ops: Any) -> AbstractContextManager[Any]: ...
    def device(self, name: Any) -> AbstractContextManager[Any]: ...
    def get_collection_ref(self, name: str) -> list[Any]: ...
    def get_operation_by_name(self, name: str) -> Operation: ...
    def get_operations(self) -> Sequence[Operation]: ...
    def _get_function(self, name: str) -> Any: ...
    def _is_function(self, name: str) -> bool: ...

class FunctionGraph(Graph, Protocol):
    """The graph of a function."""

    control_outputs: Sequence[Operation]
    name: str
    inputs: list[Tensor]
    outputs: list[Tensor]
    captures: Any
    outer_graph: Graph
    structured_outputs: Any

class Variable(Protocol):
    """A variable, or one part of a distributed one."""

    name: str
    dtype: DType
    handle: Tensor
    initial_value: Any
    initializer: Operation
    trainable: bool
    _assumed_equal: Any
    _distributed_container: Any
    _handle_name: str
    _own_strategy: Strategy
    @property
    def shape(self) -> Shape: ...
    def assign(self, value: Any, *args: Any, **kwargs: Any) -> Any: ...
    def read_value(self) -> Tensor: ...
    def value(self) -> Tensor: ...

class Function(Protocol):
    """A function of ``tf.function``."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any: ...

class Strategy(Protocol):
    """A strategy of TensorFlow's or of ours."""

    cluster_resolver: Any
    num_replicas_in_sync: int
    _collective_key_base: int
    _enable_packed_variable_in_eager_mode: bool
    _mean_losses: bool
    _scale_loss_for_estimator_enabled: Any
    @property
    def extended(self) -> Extended: ...
    def reduce(self, reduce_op: Any, value: Any, axis: int | None) -> Any: ...
    def scope(self) -> AbstractContextManager[Any]: ...

class Extended(Protocol):
    """The object behind a strategy: TensorFlow's members, then ours."""

    parameter_devices: Sequence[str]
    steps_per_run: Any
    worker_devices: Sequence[str]
    _canonical_device_set: Any
    _container_strategy: Callable[[], Any]
    _device_index: Any
    _device_map: Any
    _devices: Any
    _host_input_device: Any
    _inferred_cross_device_ops: Any
    _input_workers: Any
    _is_multi_worker_training: Any
    _tpu_cluster_resolver: Any
    _local_mode: bool
    _num_replicas_in_sync: int
    _tpu_devices: Any
    def batch_reduce_to(self, reduce_op: Any, pairs: Any, *args: Any) -> Any: ...
    def call_for_each_replica(self, fn: Any, args: Any = ..., kwargs: Any = ...) -> Any: ...
    def experimental_make_numpy_dataset(self, arrays: Any, session: Any = ...) -> Any: ...
    def experimental_run_steps_on_iterator(
        self, fn: Any, iterator: Any, iterations: Any, initial_loop_values: Any
    ) -> Any: ...
    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, *args: Any) -> Any: ...
    def _experimental_distribute_dataset(self, dataset: Any, options: Any) -> Any: ...
    def _get_local_replica_id(self, number: Any) -> int: ...
    def _make_dataset_iterator(self, dataset: Any) -> Any: ...
    def _make_input_fn_iterator(self, input_fn: Any, replication_mode: Any = ...) -> Any: ...
    def _local_results(self, value: Any) -> tuple[Any, ...]: ...
    def _reduce_to(self, reduce_op: Any, value: Any, *args: Any, **kwargs: Any) -> Any: ...
    def _unwrap(self, value: Any) -> Any: ...

    annotates_with_ops: bool
    builds_steps: bool
    explanations: Any
    host: str
    num_hosts: int
    num_replicas_per_host: int
    numbers_in_python: bool
    over_hosts: Any
    own_hosts: Any
    place: Any
    placement: Any
    real_device: str
    replica_ids: Any
    replicas: Any
    runs_as_session: bool
    sums_replicas: bool
    system: Any
    _host: Any
    def after_step(self, *args: Any) -> Any: ...
    def experimental_logical_device(self, number: int) -> AbstractContextManager[Any]: ...
    def gathered_over_workers(self, *args: Any) -> Any: ...
    def of_all_workers(self, parts: Any) -> Any: ...
    def get_host_cpu_device(self, host_id: int) -> str: ...
    def reduce_along(self, reduce_op: Any, value: Any, axis: int) -> Any: ...
    def rename_device(self, *args: Any) -> Any: ...

#: Messages that describe ops.
class GraphDef(Protocol):
    node: MutableSequence[NodeDef]
    library: Any
    versions: Any
    def CopyFrom(self, other: GraphDef) -> None: ...

class NodeDef(Protocol):
    name: str
    op: str
    device: str
    input: MutableSequence[str]
    attr: MutableMapping[str, Any]

class OpDef(Protocol):
    """The message that describes a type of ops."""

    attr: Sequence[Any]
    input_arg: Sequence[Any]
    is_stateful: bool
    output_arg: Sequence[Any]

class Message(Protocol):
    """A message of protocol buffers."""

    def SerializeToString(self, **kwargs: Any) -> bytes: ...

class Value(Protocol):
    """A distributed value: a component for each replica, or the same for all."""

    @property
    def values(self) -> tuple[Any, ...]: ...

class DistributedDataset(Protocol):
    """A dataset whose elements have a value for each replica."""

    def __iter__(self) -> Any: ...

class DataIterator(Protocol):
    """An iterator of TensorFlow's over a dataset, plain or distributed."""

    @property
    def initializer(self) -> Any: ...
    def get_next(self, name: str | None = None) -> Any: ...

class Dataset(Protocol):
    """A ``tf.data.Dataset``."""

    element_spec: Any
    def __iter__(self) -> Iterator[Any]: ...
    def apply(self, function: Any) -> Dataset: ...
    def batch(self, batch_size: Any, drop_remainder: bool = False) -> Dataset: ...
    def map(self, function: Any, *args: Any, **kwargs: Any) -> Dataset: ...
    def shard(self, num_shards: int, index: int) -> Dataset: ...
    def unbatch(self) -> Dataset: ...
    def with_options(self, options: Any) -> Dataset: ...

class Session(Protocol):
    """A Session of TensorFlow 1."""

    graph: Graph
    def run(self, fetches: Any, feed_dict: Any = None) -> Any: ...

class Model(Protocol):
    """A model of Keras 2."""

    def set_weights(self, weights: Any) -> None: ...
    def get_weights(self) -> list[Any]: ...

class EstimatorSpec(Protocol):
    """The result of an Estimator's model function, on a TPU or elsewhere."""

    mode: str
    loss: Any
    train_op: Any
    predictions: Any
    eval_metric_ops: Any
    eval_metrics: Any
    evaluation_hooks: Any
    export_outputs: Any
    host_call: Any
    prediction_hooks: Any
    scaffold: Any
    scaffold_fn: Any
    training_hooks: Any

class Scaffold(Protocol):
    """The parts of a Session that is monitored."""

    init_fn: Any
    saver: Any
    summary_op: Any

class Topology(Protocol):
    """The chips of a TPU and how they are connected."""

    device_coordinates: Any
    mesh_shape: Any
    num_tasks: int
    num_tpus_per_task: int
    def serialized(self) -> bytes: ...

class TracedFunction(Protocol):
    """A function of one signature."""

    graph: FunctionGraph
    name: Any
    def add_to_graph(self, graph: Graph) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
