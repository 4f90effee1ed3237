# A recorded program of 1.12, which compares Keras' batches with those of TensorFlow 1.12.
import json
import sys

import tensorflow as tf

from compat.record import record


def main():
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver(sys.argv[1])
    strategy = tf.contrib.distribute.TPUStrategy(resolver, steps_per_run=1)
    print("RESULT " + json.dumps(record.output(record.load("contrib_keras"), tf, strategy, None)))


if __name__ == "__main__":
    main()
