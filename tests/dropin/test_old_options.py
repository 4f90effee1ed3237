"""Hints of ``tf.data.Options`` that TensorFlow has no longer are taken, and change no elements."""

import pytest

from tests.helpers.generations import second_generation


@second_generation
@pytest.mark.parametrize("era", ["contrib", "v2_0", "v2_2"])
def test_hints_of_2_2_change_no_elements(era):
    import importlib

    tf = importlib.import_module("tpudist.%s.tensorflow" % era)
    options = tf.data.Options()
    options.experimental_optimization.map_vectorization.enabled = True
    options.experimental_optimization.autotune_buffers = True
    options.experimental_optimization.hoist_random_uniform = False
    options.experimental_optimization.noop_elimination = True
    options.experimental_deterministic = True
    own = tf.compat.v1.data.Options() if era == "contrib" else tf.data.Options()
    dataset = tf.data.Dataset.range(4).with_options(options).with_options(own)
    dataset = dataset.map(lambda x: x + 1).with_options(options)
    assert dataset.options().experimental_optimization.noop_elimination is True
    assert [int(each) for each in dataset] == [1, 2, 3, 4]


@second_generation
def test_options_merge_with_tensorflows():
    import tensorflow

    from tpudist.v2_2 import tensorflow as tf

    options = tf.data.Options()
    options.experimental_optimization.map_fusion = True
    dataset = tensorflow.data.Dataset.range(2).with_options(options)
    dataset = dataset.with_options(tensorflow.data.Options())
    assert dataset.options().experimental_optimization.map_fusion is True
    with pytest.raises(AttributeError):
        tf.data.Options().experimental_optimization.no_such_hint = True


@second_generation
@pytest.mark.parametrize("name", ["prefetch", "fetch"])
def test_input_options_take_the_name_of_their_release(name):
    from tpudist.v2_2 import tensorflow as tf

    options = tf.distribute.InputOptions(**{"experimental_%s_to_device" % name: False})
    assert options.experimental_prefetch_to_device is options.experimental_fetch_to_device is False
    assert tf.distribute.InputOptions().experimental_prefetch_to_device
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("virtual:2")
    strategy = tf.distribute.experimental.TPUStrategy(resolver)
    rows = tf.RaggedTensor.from_row_lengths(tf.range(6), [1, 2, 1, 2])
    dataset = tf.data.Dataset.from_tensor_slices(rows).batch(4)
    batch = next(iter(strategy.experimental_distribute_dataset(dataset, options)))
    parts = strategy.experimental_local_results(batch)
    assert [part.to_list() for part in parts] == [[[0], [1, 2]], [[3], [4, 5]]]
