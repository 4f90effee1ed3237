"""What compiling for a TPU takes. One program, one process; the last line is JSON.

    python -m tests.benchmarks.compiling MODEL REPLICAS BATCH TOPOLOGY FAST CACHE

MODEL is convolution or resnet50 (bfloat16), BATCH of one replica, FAST and
CACHE are 0 or 1.
"""

import functools
import json
import resource
import sys
import time

import tensorflow as tf

from tests.compile import harness, nets
from tpudist.compile import compiler


def resnet50(replicas, batch):
    """Lowers one step of Keras' ResNet50 with momentum, when it is called.

    Args:
      replicas: of the program.
      batch: of one replica.
    """
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    strategy = harness.strategy(replicas)
    with strategy.scope():
        model = tf.keras.applications.ResNet50(weights=None)
        optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
        optimizer.build(model.trainable_variables)

    def step(images, labels):
        with tf.GradientTape() as tape:
            probabilities = tf.cast(model(images, training=True), tf.float32)
            loss = tf.reduce_mean(
                tf.keras.losses.sparse_categorical_crossentropy(labels, probabilities)
            )
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))  # reduces them
        return loss

    return functools.partial(
        harness.lower,
        strategy,
        step,
        tf.TensorSpec([batch, 224, 224, 3], tf.float32),
        tf.TensorSpec([batch], tf.int32),
    )


def convolution(replicas, batch):
    """Lowers one step of an MNIST-like net, when it is called; see `tests.compile.nets`."""
    return functools.partial(nets.convolution, replicas, batch)


MODELS = {"convolution": convolution, "resnet50": resnet50}


def cpu_seconds():
    """Of this process and of the compiler's."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main(model, replicas, batch, topology, fast, cache):
    """Prints what one compilation took, without TensorFlow's import and the model's making."""
    lower = MODELS[model](int(replicas), int(batch))
    start, used = time.perf_counter(), cpu_seconds()
    program = lower()
    found = compiler.compile_program(
        program, topology, fast=bool(int(fast)), cache=bool(int(cache))
    )
    assert found.ok, found.failure
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - start,
                "cpu": cpu_seconds() - used,
                "peak": found.effort.peak_bytes,
                "host": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
                "cached": found.effort.cached,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
