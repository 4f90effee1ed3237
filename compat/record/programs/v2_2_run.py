"""2.2: run with variables of every synchronization and aggregation."""

ERA = "v2_2"


def main(tf, strategy, run, show):
    aggregation = tf.VariableAggregation
    on_read = tf.VariableSynchronization.ON_READ
    with strategy.scope():
        mirrored = {
            name: tf.Variable(1.0, aggregation=getattr(aggregation, name))
            for name in ("SUM", "MEAN", "ONLY_FIRST_REPLICA")
        }
        seen = {
            name: tf.Variable(
                0.0,
                trainable=False,
                synchronization=on_read,
                aggregation=getattr(aggregation, name),
            )
            for name in ("SUM", "MEAN", "ONLY_FIRST_REPLICA")
        }

    def replica(x):
        for variable in list(mirrored.values()) + list(seen.values()):
            variable.assign_add(tf.reduce_sum(x))
        context = tf.distribute.get_replica_context()
        return x + tf.cast(context.replica_id_in_sync_group, tf.float32)

    step = tf.function(lambda x: strategy.run(replica, args=(x,)))
    dataset = tf.data.Dataset.from_tensor_slices(tf.range(12, dtype=tf.float32)).batch(4)
    for number, batch in enumerate(strategy.experimental_distribute_dataset(dataset)):
        found = step(batch)
        show("step %d" % number, run(list(strategy.experimental_local_results(found))))
        for name in sorted(mirrored):
            show("mirrored " + name, run(mirrored[name].read_value()))
            show("on read " + name, run(seen[name].read_value()))
    for name in ("SUM", "MEAN"):
        seen[name].assign(10.0)
        show("assigned " + name, run(seen[name].read_value()))
        show("parts " + name, run(list(strategy.experimental_local_results(seen[name]))))
