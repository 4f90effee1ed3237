"""contrib: towers, merge_call, unwrap, reduce (the API page's examples)."""

ERA = "contrib"


def main(tf, strategy, run, show):
    with strategy.scope():

        def tower(factor):
            context = tf.contrib.distribute.get_tower_context()
            own = tf.cast(context.tower_id, tf.float32) + 1.0
            merged = context.merge_call(lambda distribution, x: sum(distribution.unwrap(x)), own)
            return own * factor, merged

        own, merged = strategy.call_for_each_tower(tower, 10.0)
        show("towers", strategy.num_towers)
        show("own", run(list(strategy.unwrap(own))))
        show("merged", run(list(strategy.unwrap(merged))))
        for name in ("SUM", "MEAN", "ONLY_FIRST_TOWER"):
            reduced = strategy.reduce(getattr(tf.VariableAggregation, name), own, "/device:CPU:0")
            show("reduce " + name, run(list(strategy.unwrap(reduced))))
        shared = strategy.broadcast(tf.constant([1.0, 2.0]))
        show("broadcast", run(list(strategy.unwrap(shared))))
        show(
            "in a tower",
            [
                tf.contrib.distribute.get_tower_context() is not None,
                tf.contrib.distribute.get_cross_tower_context() is strategy,
            ],
        )
