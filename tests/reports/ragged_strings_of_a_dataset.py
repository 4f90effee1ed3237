"""A distributed dataset gives ragged tensors of strings, which the program reads.

release: 2.5
link: https://github.com/tensorflow/tensorflow/issues/50507
prints: strings of all replicas in order: True
"""

import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
names = tf.ragged.constant([["n%d" % i] * (i % 3 + 1) for i in range(16)])
data = tf.data.Dataset.from_tensor_slices(names).batch(8)
found = []
options = tf.distribute.InputOptions(experimental_fetch_to_device=False)
for batch in strategy.experimental_distribute_dataset(data, options):
    for part in strategy.experimental_local_results(batch):
        found += part.to_list()
print("strings of all replicas in order:", found == names.to_list())
