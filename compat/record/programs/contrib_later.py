"""The last of contrib's era, 1.15: experimental_run and replica contexts."""

ERA = "contrib_1_15"


def main(tf, strategy, run, show):
    reduce_op = tf.distribute.ReduceOp
    with strategy.scope():
        total = tf.compat.v1.get_variable(
            "total",
            [],
            initializer=tf.compat.v1.zeros_initializer(),
            aggregation=tf.VariableAggregation.SUM,
        )
        iterator = strategy.make_dataset_iterator(
            tf.data.Dataset.range(24)
            .map(lambda i: tf.cast(i, tf.float32))
            .batch(4, drop_remainder=True)
        )
        run(iterator.initialize())

        def replica(x):
            with tf.control_dependencies([total.assign_add(tf.reduce_sum(x))]):
                return tf.identity(x) * 10.0

        scaled = strategy.experimental_run(replica, iterator)
        fetches = {
            "each": list(strategy.experimental_local_results(scaled)),
            "sum": strategy.reduce(reduce_op.SUM, scaled, axis=None),
            "sum of all": strategy.reduce(reduce_op.SUM, scaled, axis=0),
        }
        for step in range(3):
            show("step %d" % step, run(fetches))
        show("total", run(strategy.extended.read_var(total)))

        def identify():
            context = tf.distribute.get_replica_context()
            number = tf.cast(context.replica_id_in_sync_group, tf.float32)
            return context.merge_call(
                lambda strategy, x: strategy.reduce(reduce_op.SUM, x, axis=None),
                args=(number + 1.0,),
            )

        merged = strategy.extended.call_for_each_replica(identify)
        show("merged", run(list(strategy.unwrap(merged))))
        show("replicas", strategy.num_replicas_in_sync)
        show("contexts", [tf.distribute.in_cross_replica_context(), tf.distribute.has_strategy()])
