"""A trainer of 2019 that drives a TPU by Sessions of its own: no Estimator and no strategy.

The host feeds the cores from a dataset, in one Session and thread; the cores train in a loop of
steps, in another; a third reads the loss of each step.
"""

import argparse
import threading

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.contrib import cluster_resolver, tpu
from tensorflow.contrib.tpu.python.ops import tpu_ops
from tensorflow.contrib.tpu.python.tpu import tpu_function, training_loop
from tensorflow.python.util import nest


class TrainRunner:
    """Trains in loops of `iterations` steps."""

    def __init__(self, options, resolver):
        self.options = options
        self.hosts = options.cores // min(options.cores, 8)
        self.per_host = options.cores // self.hosts
        self.queues, self.initializers, self.losses = [], [], []
        self.structure = {}
        self.master = resolver.get_master()
        self.job = resolver.get_job_name() or "tpu_worker"
        self.config = tf.ConfigProto(
            allow_soft_placement=True,
            isolate_session_state=True,
            inter_op_parallelism_threads=options.threads,
        )
        with tf.Graph().as_default() as graph:
            with tf.Session(self.master, graph=graph, config=self.config) as session:
                session.run(tpu.initialize_system())

    def host(self, number):
        return "/job:%s/task:%d/device:CPU:0" % (self.job, number)

    def build_input(self, input_fn):
        self.input_graph = tf.Graph()
        with self.input_graph.as_default():
            loops = [self.feed_host(number, input_fn) for number in range(self.hosts)]
            self.enqueue = tf.group(*loops)

    def feed_host(self, number, input_fn):
        with tf.device(self.host(number)):
            dataset = input_fn(self.options.batch // self.options.cores, number, self.hosts)
            iterator = tf.data.make_initializable_iterator(dataset)
            self.initializers.append(iterator.initializer)

            def enqueue():
                shards, after = [], []
                for _ in range(self.per_host):
                    with tf.control_dependencies(after):
                        self.structure["features"], self.structure["labels"] = iterator.get_next()
                    shards.append(nest.flatten(self.structure))
                    after = shards[-1]
                queue = tpu.InfeedQueue(number_of_tuple_elements=len(shards[0]))
                self.queues.append(queue)
                return queue.generate_enqueue_ops(
                    shards, tpu_ordinal_function=lambda shard: shard % self.per_host
                )

            def body(i):
                with tf.control_dependencies(enqueue()):
                    return i + 1

            return tf.while_loop(
                lambda i: i < self.options.iterations, body, [tf.constant(0)], parallel_iterations=1
            )

    def build_train(self, model_fn):
        self.graph = tf.Graph()

        def step(loss):
            del loss
            values = self.queues[0].generate_dequeue_op(tpu_device=0)
            inputs = nest.pack_sequence_as(self.structure, values)
            loss, train = model_fn(inputs["features"], inputs["labels"])
            with tf.control_dependencies([train, tpu_ops.outfeed_enqueue_tuple([loss])]):
                return tf.identity(loss)

        @tpu_function.on_device_training_loop
        def loop():
            return training_loop.repeat(self.options.iterations, step, [1e7])

        with self.graph.as_default():
            (self.loss,) = tpu.shard(
                loop, inputs=[], num_shards=self.options.cores, outputs_from_all_shards=False
            )
            self.variables = tf.trainable_variables()
            self.step = tf.train.get_global_step()
            self.initialize = tf.global_variables_initializer()

    def read_losses(self):
        """What each core sends to the host at each step, in a Session and thread of its own."""
        with tf.Graph().as_default() as graph:
            sent = []
            for core in range(self.options.cores):
                with tf.device(self.host(core // self.per_host)):
                    sent += tpu_ops.outfeed_dequeue_tuple(
                        [tf.float32], [[]], device_ordinal=core % self.per_host
                    )
            with tf.Session(self.master, graph=graph, config=self.config) as session:
                for _ in range(self.options.steps):
                    self.losses.append(session.run(sent))

    def feed(self, session):
        for _ in range(self.options.steps // self.options.iterations):
            session.run(self.enqueue)

    def train(self):
        inputs = tf.Session(self.master, graph=self.input_graph, config=self.config)
        session = tf.Session(self.master, graph=self.graph, config=self.config)
        inputs.run(self.initializers)
        session.run(self.initialize)
        threads = [
            threading.Thread(target=self.feed, args=(inputs,)),
            threading.Thread(target=self.read_losses),
        ]
        for thread in threads:
            thread.start()
        last = 0
        while last < self.options.steps:
            (loss,) = session.run([self.loss])
            last = session.run(self.step)
            print("step %d loss %.5f" % (last, loss))
        for thread in threads:
            thread.join()
        return session.run(self.variables)


def data(count):
    """Rows and their labels: of a line with noise."""
    random = np.random.RandomState(0)
    rows = random.rand(count, 2).astype(np.float32)
    return rows, (rows.dot([1.0, -2.0]) + 0.5 + 0.01 * random.rand(count)).astype(np.float32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cores", type=int, default=8)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()

    def input_fn(batch, host, hosts):
        dataset = tf.data.Dataset.from_tensor_slices(data(96)).batch(batch, drop_remainder=True)
        return dataset.shard(hosts, host).repeat()

    def model_fn(features, labels):
        weights = tf.get_variable("weights", [2], initializer=tf.zeros_initializer())
        bias = tf.get_variable("bias", [], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.tensordot(features, weights, 1) + bias - labels))
        optimizer = tpu.CrossShardOptimizer(tf.train.MomentumOptimizer(0.1, 0.9))
        return loss, optimizer.minimize(loss, tf.train.get_or_create_global_step())

    runner = TrainRunner(options, cluster_resolver.TPUClusterResolver("any"))
    runner.build_input(input_fn)
    runner.build_train(model_fn)
    found = runner.train()

    # The same on one device, in NumPy.
    rows, labels = data(96)
    weights, momentum, losses = np.zeros(3), np.zeros(3), []
    size, shard = options.batch, options.batch // options.cores
    order = np.arange(96).reshape(-1, shard)  # batches of one core
    hosts = runner.hosts
    for step in range(options.steps):
        batches = []
        for core in range(options.cores):
            host, ordinal = divmod(core, runner.per_host)
            mine = order[host::hosts]
            batches.append(mine[(step * runner.per_host + ordinal) % len(mine)])
        chosen = np.concatenate(batches)
        x = np.concatenate([rows[chosen], np.ones((size, 1))], 1)
        error = x.dot(weights) - labels[chosen]
        losses.append((error**2).reshape(options.cores, -1).mean(1))
        momentum = 0.9 * momentum + 2 * error.dot(x) / size
        weights = weights - 0.1 * momentum
    print("weights", np.concatenate([found[0], [found[1]]]))
    np.testing.assert_allclose(np.concatenate([found[0], [found[1]]]), weights, atol=1e-5)
    np.testing.assert_allclose(runner.losses, losses, atol=1e-5)
    print("right")


main()
