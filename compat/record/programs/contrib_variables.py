"""contrib: variables of every aggregation, assigned in towers and outside."""

ERA = "contrib"


def main(tf, strategy, run, show):
    aggregation = tf.VariableAggregation
    with strategy.scope():
        for name in ("SUM", "MEAN", "ONLY_FIRST_TOWER"):
            variable = tf.get_variable(
                name, [2], initializer=tf.ones_initializer(), aggregation=getattr(aggregation, name)
            )

            def assign(variable=variable):
                context = tf.contrib.distribute.get_tower_context()
                return variable.assign_add(tf.cast(context.tower_id, tf.float32) + [1.0, 2.0])

            update = strategy.group(strategy.call_for_each_tower(assign))
            run(update)
            show(name, run(strategy.read_var(variable)))
            run(update)
            show(name + " again", run(strategy.read_var(variable)))
        local = tf.get_variable(
            "local",
            [],
            initializer=tf.zeros_initializer(),
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=aggregation.SUM,
        )

        def count():
            context = tf.contrib.distribute.get_tower_context()
            return local.assign_add(tf.cast(context.tower_id, tf.float32) + 1.0)

        updates = strategy.call_for_each_tower(count)
        run([tf.identity(part) for part in strategy.unwrap(updates)])
        show("tower local", run(strategy.read_var(local)))
        outside = tf.get_variable("outside", [], initializer=tf.zeros_initializer())
        run(strategy.group(strategy.update(outside, lambda variable: variable.assign_add(3.0))))
        show("outside", run(strategy.read_var(outside)))
