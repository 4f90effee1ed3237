"""What each example of a reference page leaves undefined, and what it must do.

A `Case` is keyed by the id of its block (see `blocks`). ``before`` runs first in
the same namespace, ``after`` last; ``replace`` fills in what a page elides as
``...`` or writes as a path of its own. In ``before`` the era's ``tf`` and ``np``
are there, and ``folder`` (with a slash at its end) holds TFRecord files 1.tfr to
4.tfr of two records each; the TPU is ``virtual:8``.
"""

import collections

Case = collections.namedtuple("Case", "before after replace")
Case.__new__.__defaults__ = ("", "", ())

#: A block that cannot run. ``error`` is the exception it must end in; ``since``
#: the first TensorFlow release of which that is so (None: it always was), and
#: ``until`` the first of which it is so no longer (None: it still is).
Cannot = collections.namedtuple("Cannot", "error reason since until")
Cannot.__new__.__defaults__ = (None, None)

_CONTRIB = """
resolver = tf.contrib.cluster_resolver.TPUClusterResolver('')
distribution = tf.contrib.distribute.TPUStrategy(resolver, steps_per_run=1)
distribution_strategy = distribution

def evaluate(value):
  tensors = tf.nest.map_structure(tf.convert_to_tensor, value)
  with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    return session.run(tensors)
"""

_STRATEGY = """
class Enough(Exception):
  '''Ends a block that trains for ever, after three steps.'''

class Limited(tf.distribute.experimental.TPUStrategy):
  steps = 0

strategy = Limited()
"""

_COUNTED = """
def %(run)s(self, *args, **kwargs):
  if self.steps == 3:
    raise Enough
  self.steps += 1
  return super(Limited, self).%(run)s(*args, **kwargs)

Limited.%(run)s = %(run)s
"""

_FROM_FUNCTION = Case(
    before=_STRATEGY
    + _COUNTED
    + """
global_batch_size = 16

@tf.function
def replica_fn(batch):
  return tf.reduce_sum(batch)
""",
    after="""
assert strategy.steps == 3
values = strategy.experimental_local_results(replica_results)
assert [float(value) for value in values] == [2.] * 8
""",
)

# The page writes "dataset_ops" for tf.data, and says that the dataset is batched.
_RECORDS = """
class dataset_ops:
  class Dataset:
    @staticmethod
    def TFRecordDataset(files):
      return tf.data.TFRecordDataset(files).batch(2)

seen = []
"""
_READ = """
assert strategy.num_replicas_in_sync == 1
assert [list(x) for x in seen] == [[b'%d0' % i, b'%d1' % i] for i in range(1, 5)]
"""
_FILES = (('"/a/', 'folder + "'),)
_DISTRIBUTE = Case(
    _RECORDS
    + """
def train_step(inputs):
  seen.append(inputs.numpy())
""",
    _READ,
    _FILES,
)
_DISTRIBUTE_TRACED = Case(
    _RECORDS
    + """
@tf.function
def train_step(inputs):
  tf.numpy_function(lambda value: seen.append(value) or value, [inputs], tf.string)
""",
    _READ,
    _FILES,
)

# Scalar rows can only be fed to one replica.
_NUMPY = Case(
    """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu='')
topology = tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(
    resolver, tf.tpu.experimental.DeviceAssignment.build(topology, num_replicas=1))
""",
    """
assert [float(value) for value in dist_dataset] == [1.] * 10
""",
)

_INPUTS = """
image = np.arange(192, dtype=np.float32).reshape(2, 4, 8, 3)
inputs = tf.data.Dataset.from_tensors(image).repeat()
results = []

class Watched(tf.distribute.experimental.TPUStrategy):
  def run(self, *args, **kwargs):
    results.append(super(Watched, self).run(*args, **kwargs))

tf.distribute.experimental.TPUStrategy = Watched

def model(value):
  return value * 2
"""
_DOUBLED = """
values = strategy.experimental_local_results(results[0])
assert len(values) == strategy.num_replicas_in_sync == %d
for value in values:
  np.testing.assert_array_equal(value, image * 2)
"""

CASES = {
    "contrib_TPUStrategy.md#worker_device_index": Case(
        _CONTRIB,
        """
with distribution_strategy.scope():
  found = distribution_strategy.call_for_each_tower(
      tf.convert_to_tensor, distribution_strategy.worker_device_index)
  assert evaluate(distribution_strategy.unwrap(found)) == list(range(8))
""",
    ),
    "contrib_TPUStrategy.md#call_for_each_tower": Case(
        _CONTRIB,
        """
with distribution.scope():
  # v is 3 to 10 and s their sum, 52.
  assert evaluate(distribution.unwrap(merged_results)) == list(range(55, 63))
""",
    ),
    "contrib_TPUStrategy.md#colocate_vars_with": Case(
        _CONTRIB
        + """
names = iter(['var1', 'var2', 'var3'])
with distribution_strategy.scope():
  v1, v2, v3 = [tf.get_variable(name, [2]) for name in ('v1', 'v2', 'v3')]
""",
        """
assert evaluate(var2).shape == evaluate(var3).shape == (2,)
""",
        (("get_variable(...)", "get_variable(next(names), [2])"),),
    ),
    "contrib_TPUStrategy.md#distribute_dataset": Case(
        _CONTRIB
        + """
def tower_fn(value):
  return value * 2
""",
        """
found = evaluate(distribution_strategy.unwrap(tower_results))
assert [value.tolist() for value in found] == [[[2.]]] * 8
""",
    ),
    "v2_0_Strategy.md#Class": Case(
        """
my_strategy = tf.distribute.experimental.TPUStrategy()
dataset = tf.data.Dataset.from_tensor_slices(tf.range(32)).batch(16)
EPOCHS = 2
""",
        """
assert int(train_result) == sum(range(32))
""",
        (("# process input and return result", "result = tf.reduce_sum(input)"),),
    ),
    "v2_2_TPUStrategy.md#experimental_distribute_dataset": _DISTRIBUTE_TRACED,
    "v2_2_TPUStrategy.md#experimental_distribute_dataset/2": Case(
        _RECORDS,
        """
assert [list(x.numpy()) for x in dist_dataset] == [
    [b'%d0' % i, b'%d1' % i] for i in range(1, 5)]
""",
        _FILES,
    ),
    "v2_2_TPUStrategy.md#experimental_distribute_datasets_from_function": _FROM_FUNCTION._replace(
        before=_FROM_FUNCTION.before % {"run": "run"}
    ),
    "v2_2_TPUStrategy.md#experimental_distribute_datasets_from_function/2": Case(
        _STRATEGY
        + _COUNTED % {"run": "run"}
        + """
inputs = strategy.experimental_distribute_datasets_from_function(
    lambda context: tf.data.Dataset.from_tensors([1.]).repeat())
steps = 2
""",
        "assert strategy.steps == 2",
    ),
    "v2_2_TPUStrategy.md#experimental_distribute_values_from_function": Case(),
    "v2_2_TPUStrategy.md#experimental_distribute_values_from_function/2": Case(),
    "v2_2_TPUStrategy.md#experimental_distribute_values_from_function/3": Case(),
    "v2_2_TPUStrategy.md#experimental_distribute_values_from_function/4": Case(
        after="""
values = strategy.experimental_local_results(distributed_values)
assert [float(value) for value in values] == [1.] * 8
"""
    ),
    "v2_2_TPUStrategy.md#experimental_make_numpy_dataset": _NUMPY,
    "v2_2_TPUStrategy.md#experimental_assign_to_logical_device": Case(_INPUTS, _DOUBLED % 4),
    "v2_2_TPUStrategy.md#experimental_replicate_to_logical_devices": Case(
        _INPUTS
        + """
inputs = tf.data.Dataset.from_tensors((image, [1, 2])).repeat()
loss_fn = lambda labels, output: tf.reduce_sum(output)
"""
    ),
    "v2_2_TPUStrategy.md#experimental_split_to_logical_devices": Case(_INPUTS, _DOUBLED % 1),
}
_V2_0_PAGES = ("v2_0_TPUStrategy.md", "v2_0_Strategy.md")
for _page in _V2_0_PAGES:
    CASES.update(
        {
            _page + "#experimental_distribute_dataset": _DISTRIBUTE,
            _page + "#experimental_distribute_datasets_from_function": _FROM_FUNCTION._replace(
                before=_FROM_FUNCTION.before % {"run": "experimental_run_v2"}
            ),
            _page + "#experimental_make_numpy_dataset": _NUMPY,
        }
    )

_MIRRORED = "the drop-in's MirroredStrategy is the installed one, which %s"
_NO_RUN = _MIRRORED % "has run only from 2.2 on"
_NO_VALUES = _MIRRORED % "makes values from a function only from 2.2 on"
_SCALARS = [
    Cannot(
        error,
        "the rows of the page's array are scalars, and TensorFlow "
        "to 2.4 distributes only batched datasets",
        since,
        until,
    )
    for error, since, until in (("ValueError", None, (2, 4)), ("IndexError", (2, 4), (2, 5)))
]
_V2_2 = "v2_2_TPUStrategy.md#experimental_"
_VALUES = _V2_2 + "distribute_values_from_function"

#: Blocks that cannot run as printed, each with the reason.
CANNOT = {
    "contrib_TPUStrategy.md#update": [
        Cannot(
            "SyntaxError", "pseudo-code of what update() does, with a return outside of a function"
        )
    ],
    _V2_2 + "replicate_to_logical_devices": [
        Cannot(
            "ShardingError",
            "the page contradicts itself: it splits the tuple "
            "(images, labels), and 8 ways on the 2 logical devices it asked for; "
            "that is one of the ValueErrors of the split method",
        )
    ],
    _V2_2 + "distribute_dataset": [Cannot("AttributeError", _NO_RUN, until=(2, 2))],
    _V2_2 + "distribute_dataset/2": [
        Cannot("AttributeError", _NO_RUN, until=(2, 2)),
        Cannot(
            "TypeError",
            _MIRRORED % "loses the arguments of a function with an input signature in 2.2",
            since=(2, 2),
            until=(2, 4),
        ),
        Cannot(
            "OperatorNotAllowedInGraphError",
            _MIRRORED % "takes the tensor of a function with an input signature apart in 2.4",
            since=(2, 4),
            until=(2, 5),
        ),
    ],
    _V2_2 + "distribute_datasets_from_function/2": [
        Cannot("AttributeError", "an iterator has an element_spec only from 2.2 on", until=(2, 2))
    ],
    _VALUES: [Cannot("AssertionError", _NO_VALUES, until=(2, 2))],
    _VALUES + "/2": [Cannot("AssertionError", _NO_VALUES, until=(2, 2))],
    _VALUES + "/3": [Cannot("AssertionError", _NO_VALUES, until=(2, 2))],
    _VALUES + "/4": [
        Cannot(
            "RuntimeError",
            "eager code before 2.2 can place nothing on a device that is only virtual",
            until=(2, 2),
        )
    ],
    _V2_2 + "make_numpy_dataset": _SCALARS,
}
for _page in _V2_0_PAGES:
    CANNOT.update(
        {
            _page + "#experimental_distribute_dataset": [
                Cannot(
                    "AttributeError", _MIRRORED % "lost experimental_run_v2 in 2.4", since=(2, 4)
                )
            ],
            _page + "#experimental_make_numpy_dataset": _SCALARS,
        }
    )
