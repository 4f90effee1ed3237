"""Right and wrong uses of the 2.0 era, as a checker sees them; never run."""

from typing import Any, reveal_type

import tpudist
import tpudist.v2_0.tensorflow as tf
from tpudist.v2_0.tensorflow.keras.layers import Dense

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="virtual:8")
strategy = tf.distribute.experimental.TPUStrategy(resolver)
reveal_type(strategy)


def step(x: Any) -> Any:
    return x


reveal_type(strategy.experimental_run_v2)
reveal_type(tf.compat.v2.distribute.experimental.TPUStrategy)
reveal_type(tf.distribute.TPUStrategy(resolver).extended)
strategy.experimental_run_v2(step, args=(1,), kwargs=None)
reveal_type(strategy.experimental_make_numpy_dataset([1, 2]))
with strategy.scope():
    layer = Dense(1)
reveal_type(tpudist.v2_0.initialize_tpu_system)

# Wrong.
strategy.run(step, args=(1,))
strategy.experimental_run_v2(step, args=(1,), options=None)
strategy.experimental_distribute_values_from_function(step)
print(tpudist.v2_0.ValueContext)
tpudist.v2_0.TPUStrategy(None, None, None)
