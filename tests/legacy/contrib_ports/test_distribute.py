"""The other strategies of ``tf.contrib.distribute``."""

import pytest

tf = pytest.importorskip("tensorflow")

from tpudist.legacy.contrib_ports import distribute  # noqa: E402

tf1 = tf.compat.v1


@pytest.mark.parametrize(
    "make",
    [
        lambda: distribute.MirroredStrategy(["/cpu:0"]),
        lambda: distribute.MirroredStrategy(num_gpus=0),
        lambda: distribute.OneDeviceStrategy("/cpu:0"),
    ],
    ids=["devices", "num_gpus", "one"],
)
def test_a_step_with_the_names_of_the_time(make):
    with tf.Graph().as_default(), tf1.Session() as session:
        distribution = make()
        assert isinstance(distribution, tf1.distribute.Strategy)
        assert distribution.num_towers == 1
        with distribution.scope():
            weight = tf1.get_variable("w", initializer=2.0)
            towers = distribution.call_for_each_tower(lambda x: x * weight, 3.0)
            values = distribution.unwrap(towers)
        session.run(tf1.global_variables_initializer())
        assert session.run(values) == [6.0]


def test_both_numbers_of_gpus_are_refused():
    with pytest.raises(ValueError, match="num_gpus"):
        distribute.MirroredStrategy(num_gpus=1, num_gpus_per_worker=1)


def test_how_an_estimator_distributes():
    config = distribute.DistributeConfig(train_distribute=1)
    assert (config.train_distribute, config.eval_distribute) == (1, None)
