"""1.12: a MonitoredTrainingSession with hooks and a Saver; no strategy at all."""

import tensorflow as tf


def main(_):
    step = tf.train.get_or_create_global_step()
    x = tf.placeholder_with_default(tf.ones([4, 2]), [None, 2])
    weights = tf.get_variable("weights", [2, 1], initializer=tf.constant_initializer(0.5))
    loss = tf.losses.mean_squared_error(tf.ones([4, 1]) * 3, tf.matmul(x, weights))
    train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss, global_step=step)
    found = []
    hooks = [tf.train.StopAtStepHook(last_step=5)]
    with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
        while not session.should_stop():
            found.append("%.5f" % session.run([loss, train])[0])
    tf.logging.info("done")
    print(found)


if __name__ == "__main__":
    tf.app.run(main)
