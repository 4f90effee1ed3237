"""Flags for the installed release of TensorFlow; no other module asks for its version.

Every difference between releases that tpudist depends on is one named flag with the release it
starts at. Code elsewhere reads the flag, never the version. The figures come from running the
installed wheels of each release (see ``compat/``).
"""

from __future__ import annotations

from typing import Iterable

from packaging.version import Version

try:
    import tensorflow as _tf

    TF = Version(_tf.version.VERSION if hasattr(_tf, "version") else _tf.VERSION)
except Exception as error:  # a broken install raises what it likes
    from tpudist.errors import MissingTensorFlowError

    if str(error).startswith("Descriptors cannot be created directly"):
        raise MissingTensorFlowError(
            "TensorFlow cannot be imported: " + str(error).partition("\n")[0],
            "protobuf 4 and newer refuse the generated code of TensorFlow up to 2.11",
            'pip install "protobuf<3.21"',
        ) from error
    raise MissingTensorFlowError(
        "TensorFlow cannot be imported: %s" % error,
        "tpudist drives TensorFlow's own runtime and ships none",
        'pip install "tpudist[tensorflow]"; if it is installed tpudist doctor finds why, '
        "and old ones need old packages: tpudist doctor --constraints 1.15 > pins.txt, "
        "pip install -c pins.txt tensorflow==1.15.*",
    ) from error

OLDEST = "1.13"


def _since(release: str) -> bool:
    return TF.release >= Version(release).release


def not_older(releases: Iterable[str]) -> list[str]:
    """Returns those releases that are this TensorFlow, another patch of it, or newer."""
    return [each for each in releases if TF.release[:2] <= Version(each).release[:2]]


if not _since(OLDEST):
    from tpudist.errors import MissingTensorFlowError

    raise MissingTensorFlowError(
        "TensorFlow %s" % TF,
        "tpudist needs TensorFlow %s or newer" % OLDEST,
        'pip install "tpudist[tensorflow]"',
    )

#: TensorFlow 2: eager execution and resource variables by default.
TF2 = _since("2.0")

#: ``tf.keras`` is Keras 3 (2.16 release notes), unless TF_USE_LEGACY_KERAS; see `keras_packages`.
KERAS_3 = _since("2.16")

#: ``tf.keras.optimizers`` are new, those before in ``optimizers.legacy``; not in v1 (2.11 notes).
KERAS_OPTIMIZERS_ARE_NEW = _since("2.11")

#: Keras 2 hands the mask to ``BatchNormalization._moments`` (batch_normalization.py of 2.12).
KERAS_MOMENTS_TAKE_MASKS = _since("2.12")

#: Keras 2 is below ``src``, where ``tensorflow.python.layers`` finds no normalization (2.13).
KERAS_MODULES_ARE_IN_SRC = _since("2.13")

#: ``tf.keras.mixed_precision`` has what was in its ``experimental`` (2.4 release notes).
KERAS_POLICIES_ARE_STABLE = _since("2.4")

#: ``import keras`` is the package that ``tf.keras`` is (2.6 release notes).
KERAS_IS_A_PACKAGE = _since("2.6")

#: Function graphs create ops by ``_create_op_internal``, below ``create_op`` (func_graph.py, 2.1).
CREATES_OPS_UNWRAPPED = _since("2.1")

#: An op can be made without the Python calls that made it, and be given others' (``_create_c_op``,
#: ``TF_SetOpStackTrace`` of ops.py; capture_container.py): as both are in 2.15.
OPS_TAKE_STACK_TRACES = _since("2.15")

#: Distributed values find a component by its device and refuse duplicates (until 2.1).
BY_DEVICE = not _since("2.2")

#: They do so with a device map (1.14 to 2.1); in 1.13 they are dictionaries.
DEVICE_MAP = BY_DEVICE and _since("1.14")

#: ``distribute_lib`` (1.15), then ``values`` (2.1), creates mirrored variables publicly.
CREATES_MIRRORED_PUBLICLY = _since("1.15")
VALUES_CREATE_MIRRORED = _since("2.1")

#: Outside of a graph, Keras takes single batches and weights of samples under a strategy (2.2).
KERAS_TAKES_BATCHES = _since("2.2")

#: A model of Keras gives its compile arguments back (``_get_compile_args``, 2.2).
KERAS_TELLS_COMPILE_ARGUMENTS = _since("2.2")

#: Keras looks its learning phase up in the current graph, or function (1.13; backend.py).
LEARNING_PHASE_IS_OF_A_GRAPH = not _since("1.14")

#: With soft device placement TPUs run ops that XLA cannot compile on the host (tpu.py of 2.4).
AUTOMATIC_OUTSIDE_COMPILATION = _since("2.4")

#: Sums over workers get numbers whenever a ``tf.function`` is called (cross_device_utils.py, 2.4).
HAS_CLUSTERS = _since("2.4")

#: ``CollectiveAllReduceExtended`` asks a method for devices (collective_all_reduce_strategy.py);
#: on 2.15, which has it too, workers with several devices failed with Keras' optimizers.
WORKERS_HAVE_NAMED_DEVICES = _since("2.16")

#: A coordination service looks if workers are alive (collective_all_reduce_strategy.py of 2.15).
WORKERS_ARE_COORDINATED = _since("2.15")

#: ``python.checkpoint``, before ``training.tracking.util`` and ``checkpoint_management`` (2.10).
CHECKPOINT_HAS_PACKAGE = _since("2.10")

#: ``saved_model.save`` calls ``save_and_return_nodes``, as Keras does: seen in 2.9, not in 2.4.
SAVED_MODELS_HAVE_NODES = _since("2.9")

#: ``tf.keras.metrics.Metric`` is public (1.14); before, its subclasses are, which are layers.
HAS_METRIC = _since("1.14")

#: ``tf.compat.v2`` exists (1.14).
HAS_COMPAT_V2 = _since("1.14")

#: ``tf.nest`` and ``tf.is_tensor`` are public, and composite tensors have a common class (1.14).
HAS_NEST = _since("1.14")

#: ``distribute.numpy_dataset``, ``distribute.input_lib``, ``values.SyncOnReadVariable`` and
#: ``cross_device_ops.ReductionToOneDevice`` exist (1.14).
HAS_INPUT_LIB = _since("1.14")

#: All of contrib's TPU code, the TPU strategy with it, is below ``tensorflow.python``, and
#: TPUEstimator in the package tensorflow_estimator (1.14).
TPU_IN_PYTHON = _since("1.14")

#: ``tf.distribute`` has strategies beside MirroredStrategy (1.14); contrib's were other classes.
HAS_PUBLIC_STRATEGIES = _since("1.14")

#: ``tf.function`` is public, and its classes have today's names; a function graph has control
#: outputs, which run with it (1.14). Before, its outputs depend on the ops that must run.
HAS_FUNCTION = _since("1.14")

#: ``tf.numpy_function`` calls Python; ``tf.py_func`` before warns from here on (1.14).
HAS_NUMPY_FUNCTION = _since("1.14")

#: How functions are called is kept by the eager context, to be changed and restored (1.15).
FUNCTION_OPTIONS_ARE_KEPT = _since("1.15")

#: Replicas can be run and values reduced outside of the scope, ``reduce`` has an axis, ``unwrap``
#: is ``experimental_local_results``, and ``ReplicaContext.all_reduce`` exists (1.14).
WORKS_OUTSIDE_SCOPE = _since("1.14")

#: ``Strategy.run`` exists; before, ``experimental_run_v2`` (2.2 release notes).
HAS_RUN = _since("2.2")

#: ``Strategy.experimental_run_v2`` is gone (2.4 release notes).
RUN_V2_IS_GONE = _since("2.4")

#: AutoGraph makes StagingErrors of those without ``ag_pass_through`` (1.14; autograph/impl/api.py).
AUTOGRAPH_HIDES_ERRORS = not _since("1.15")

#: ``strategy.run`` converts the replica function with AutoGraph (from 1.15).
RUN_CONVERTS = _since("1.15")

#: Topology has a z axis: mesh and computation shapes have 4 entries (2.3).
TOPOLOGY_RANK = 4 if _since("2.3") else 3

#: The resolver answers ``get_tpu_system_metadata()`` itself, and knows the TPU "local" (2.3).
RESOLVER_HAS_METADATA = _since("2.3")

#: ``tf.tpu.experimental.shutdown_tpu_system`` exists (2.1).
HAS_SHUTDOWN = _since("2.1")

#: The resolver has a client of the TPU API, of its own or of cloud_tpu_client (2.2).
RESOLVER_HAS_CLIENT = _since("2.2")

#: The resolver's methods that ask the TPU API are in camel case (until 1.13).
RESOLVER_IN_CAMEL_CASE = not _since("1.14")

#: Replicas may assign mirrored variables without aggregation (2.3); before, a ValueError.
ASSIGN_WITHOUT_AGGREGATION = _since("2.3")

#: Replica contexts carry a static local id, so that one trace can serve every replica (2.4).
TRACE_ONCE = _since("2.4")

#: A replica's id is a constant, and ``get_seed`` notes that a seed was used: a trace as replica 0
#: can serve every replica (1.14).
TRACES_AS_FIRST = _since("1.14")

#: tf.functions can be called as Python functions (``experimental_run_functions_eagerly``, 1.15).
FUNCTIONS_CAN_BE_INLINED = _since("1.15")

#: The gradient of a branch or loop is of the graph that it was made of, not of a copy (2.1).
FLOWS_KEEP_THEIR_GRAPHS = _since("2.1")

#: A variable's policy says whether it is mirrored (2.4); before, its class does.
HAS_VARIABLE_POLICIES = _since("2.4")

#: ``InputReplicationMode`` and InputOptions reach the strategy (2.3 and 2.4).
HAS_INPUT_OPTIONS = _since("2.3")

#: ``tf.distribute.InputOptions`` (2.4 release notes).
HAS_PUBLIC_INPUT_OPTIONS = _since("2.4")

#: InputOptions say experimental_fetch_to_device (2.5); before, experimental_prefetch_to_device.
FETCHES = _since("2.5")

#: Datasets can be distributed from a function, and to several hosts on one machine (1.15).
HAS_DATASETS_FROM_FUNCTION = _since("1.15")

#: In a graph an uneven batch ends a distributed dataset (2.0; seen as an OutOfRangeError).
GRAPHS_NEED_EVEN_BATCHES = TF2 and not _since("2.1")

#: Iterators of distributed datasets are owned by Python, and arguments of functions (2.2).
ITERATORS_ARE_ARGUMENTS = _since("2.2")

#: ``tf.data`` iterators have a method ``get_next_as_optional`` (2.3).
ITERATORS_GIVE_OPTIONALS = _since("2.3")

#: ``experimental_distribute_datasets_from_function`` calls its function once, and at once (2.3).
DATASET_FUNCTIONS_ARE_CALLED_ONCE = _since("2.3")

#: A distributed dataset, not its iterator, finds out whether batches may be partial (2.4).
DATASETS_KNOW_PARTIAL_BATCHES = _since("2.4")

#: Distributed datasets are composite tensors, arguments of functions (2.5).
DATASETS_ARE_ARGUMENTS = _since("2.5")

#: Destroying a ``tf.data`` iterator waits up to a minute for its thread (2.5; see input.iterators).
ITERATORS_END_SLOWLY = _since("2.5")

#: BatchMatMulV2 has a bfloat16 kernel for CPUs (seen on 2.5.3; 2.4.4 has none).
MULTIPLIES_BFLOAT16_BATCHES = _since("2.5")

#: A loop over a distributed dataset asks its iterator for the next element: seen on 2.8.
LOOPS_ASK_THE_ITERATOR = _since("2.8")

#: ``tf.data.Options.autotune`` (2.7); before, ``experimental_optimization``.
HAS_AUTOTUNE_OPTIONS = _since("2.7")

#: Functions cast values to their signature's types (core/function/polymorphism, 2.15).
TYPE_SPECS_CAST = _since("2.15")

#: ``tf.data.Dataset.element_spec`` exists (1.15).
HAS_ELEMENT_SPEC = _since("1.15")

#: ``tf.compat.v1.data.get_output_shapes`` exists (1.14); datasets had ``output_shapes``.
HAS_OUTPUT_SHAPES = _since("1.14")

#: A dataset distributed to one replica is split too (until 2.10).
ONE_REPLICA_NEEDS_BATCHES = not _since("2.11")

#: ``experimental_distribute_datasets_from_function`` lost its prefix (2.4).
DATASETS_FROM_FUNCTION_RENAMED = _since("2.4")

#: Sharding annotations may be separate ops, not only attributes (2.2).
HAS_SHARDING_OP = _since("2.2")

#: The XlaSharding op kills the process when a CPU runs it (2.2 to 2.8), later it is an identity.
XLA_SHARDING_CRASHES_CPU = _since("2.2") and not _since("2.12")

#: A second native class, ``tf.distribute.TPUStrategy``, besides the experimental one (2.3).
HAS_TPU_STRATEGY_V2 = _since("2.3")

#: ``xla_sharding.assign_device`` is called ``single_device`` (2.22).
ASSIGN_DEVICE_RENAMED = _since("2.22")

#: A ``tf.function`` can be cloned, and ``def_function`` says whether they run eagerly (2.2).
HAS_FUNCTION_CLONE = _since("2.2")

#: Captures are a dictionary, which a concrete function adds to inputs (1.14; eager/function.py).
CAPTURES_ARE_A_DICT = not _since("1.15")

#: A graph adds a function with all it calls (2.13); before, the function adds itself.
GRAPHS_ADD_FUNCTIONS = _since("2.13")

#: TensorFlow gives the HLO of a function for shapes alone (``from_concrete_function`` in
#: ``compiler_ir.py``, 2.12); before it needs values, which it folds.
LOWERS_TO_HLO = _since("2.12")

#: Mirrored variables of a native TPU strategy are no ``DistributedVariable`` (until 1.14).
TPU_VARIABLES_ARE_APART = not _since("1.15")

#: In a graph the seed of a random op counts random ops (2.2); before, all ops.
COUNTS_RANDOM_OPS = _since("2.2")

#: A component refers to its distributed variable weakly (2.4, and before 2.3).
CONTAINERS_ARE_WEAK = _since("2.4") or not _since("2.3")

#: Optimizers of ``tf.train`` divide a mean loss only if Estimator asks for it (1.14).
ESTIMATOR_ASKS_FOR_SCALING = _since("1.14")

#: ``tf.estimator`` exists (until 2.15; tensorflow 2.16 release notes).
HAS_ESTIMATOR = not _since("2.16")

#: Cross-replica code may add to a sync-on-read variable whose copies are averaged (1.15).
SYNC_ON_READ_ADDS_ACROSS = _since("1.15")

# Where TensorFlow keeps things: the first release whose wheel has the module.

#: ``distribute.distribute_utils`` and ``distribute.mirrored_run`` exist (2.3).
HAS_DISTRIBUTE_UTILS = _since("2.3")

#: ``distribute.distribution_strategy_context`` is in ``distribute_lib`` (2.14).
STRATEGY_CONTEXT_IN_LIB = _since("2.14")

#: ``distribute.v1.input_lib``, out of ``distribute.input_lib`` (2.8).
INPUT_LIB_V1_HAS_MODULE = _since("2.8")

#: ``python.compiler.xla.experimental.xla_sharding``, before ``tensorflow.compiler`` (2.11).
XLA_SHARDING_IN_PYTHON = _since("2.11")

#: ``tf.config.experimental.enable_tensor_float_32_execution(False)`` asks XLA for products of whole
#: float32 operands (seen: ``operand_precision`` of the HLO that 2.14 lowers to, and 2.13 does not).
PRECISION_IS_ASKED_FOR = _since("2.14")

#: ``eager.polymorphic_function.concrete_function``, out of ``eager.function`` (2.14).
CONCRETE_FUNCTION_HAS_MODULE = _since("2.14")

#: ``ops.handle_data_util``, out of ``ops.custom_gradient`` (2.4).
HANDLE_DATA_HAS_MODULE = _since("2.4")

#: A CPU can be divided into logical devices for the whole process (1.14 release notes).
HAS_LOGICAL_DEVICES = _since("1.14")

#: A Session of constants alone on logical CPUs ends (measured: 2.2); on 1.15 never, if folded.
CONSTANTS_OF_DEVICES_MAY_BE_FOLDED = _since("2.2")

#: A TPU reports its embedding hardware (``tpu/tpu_hardware_feature.py``, 2.9).
HAS_HARDWARE_FEATURE = _since("2.9")
