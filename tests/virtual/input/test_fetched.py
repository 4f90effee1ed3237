"""Sparse and ragged batches, which a TPU's cores cannot fetch ahead."""

import pytest
import tensorflow as tf

from tpudist.system import cluster
from tpudist.tfcompat import versions
from tpudist.v2_2.strategy import TPUStrategy

pytestmark = pytest.mark.skipif(
    not versions.HAS_INPUT_OPTIONS, reason="TPUStrategy looks at its datasets since 2.3"
)

DATASETS = {
    "ragged": lambda: tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3]])),
    "sparse": lambda: tf.data.Dataset.from_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 2]])),
}


def options():
    """Cores do not fetch ahead."""
    if hasattr(tf.distribute.InputOptions(), "experimental_fetch_to_device"):
        return tf.distribute.InputOptions(experimental_fetch_to_device=False)
    return tf.distribute.InputOptions(experimental_prefetch_to_device=False)


def distribute(strategy, dataset, by_function, *given):
    if not by_function:
        return strategy.experimental_distribute_dataset(dataset, *given)
    return strategy.experimental_distribute_datasets_from_function(lambda _: dataset, *given)


@pytest.fixture
def strategy():
    return TPUStrategy(cluster.TPUClusterResolver("virtual:2"))


@pytest.mark.parametrize("by_function", [False, True], ids=["dataset", "function"])
@pytest.mark.parametrize("kind", sorted(DATASETS))
def test_sparse_and_ragged_batches_are_refused(strategy, kind, by_function):
    batches = tf.data.Dataset.zip({"x": DATASETS[kind]().batch(2)})
    with pytest.raises(ValueError, match="(?s)Found tensor x .*_to_device=False"):
        distribute(strategy, batches, by_function)


@pytest.mark.parametrize("kind", sorted(DATASETS))
def test_sparse_and_ragged_batches_may_stay_on_the_host(strategy, kind):
    batches = distribute(strategy, DATASETS[kind]().batch(2), False, options())
    assert len(strategy.experimental_local_results(next(iter(batches)))) == 2
