"""2.0: reductions over replicas and examples, also of an uneven last batch."""

ERA = "v2_0"


def main(tf, strategy, run, show):
    reduce_op = tf.distribute.ReduceOp
    dataset = tf.data.Dataset.range(7).map(lambda i: tf.cast(i, tf.float32)).batch(4)

    @tf.function
    def step(batch):
        squares = strategy.experimental_run_v2(lambda x: x**2, args=(batch,))
        return [
            strategy.reduce(reduce_op.SUM, squares, axis=0),
            strategy.reduce(
                reduce_op.MEAN,
                strategy.experimental_run_v2(tf.reduce_max, args=(batch,)),
                axis=None,
            ),
        ]

    for number, batch in enumerate(strategy.experimental_distribute_dataset(dataset)):
        show("batch %d" % number, run(step(batch)))
        show("parts %d" % number, run(list(strategy.experimental_local_results(batch))))

    def all_reduce():
        context = tf.distribute.get_replica_context()
        number = tf.cast(context.replica_id_in_sync_group, tf.float32)
        return [
            context.all_reduce(reduce_op.SUM, number + 1.0),
            context.all_reduce(reduce_op.MEAN, [number, number * 3.0])[1],
        ]

    found = tf.function(lambda: strategy.experimental_run_v2(all_reduce))()
    show("all_reduce", run([list(strategy.experimental_local_results(part)) for part in found]))
    show("replicas", strategy.num_replicas_in_sync)
