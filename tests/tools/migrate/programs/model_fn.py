"""1.12: code in the manner of Estimator: a model_fn, modes, a scaffold, checkpoints."""

import collections
import tempfile

import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 4, "how many")
Spec = collections.namedtuple("Spec", "loss train_op")


def model_fn(features, labels, mode):
    with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
        kernel = tf.get_variable("kernel", [3, 1], initializer=tf.zeros_initializer())
    loss = tf.losses.log_loss(labels, tf.sigmoid(tf.matmul(features, kernel)))
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss) if mode == "train" else tf.no_op()
    return Spec(loss, train_op)


def input_fn():
    features = tf.reshape(tf.to_float(tf.range(12)), [4, 3]) / 12.0
    return tf.data.Dataset.from_tensors((features, tf.constant([[0.0], [1.0], [0.0], [1.0]])))


def main(_):
    features, labels = input_fn().repeat().make_one_shot_iterator().get_next()
    train, evaluate = (model_fn(features, labels, mode) for mode in ("train", "eval"))
    saver = tf.train.Saver()
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(flags.FLAGS.steps):
            session.run(train.train_op)
        path = saver.save(session, tempfile.mkdtemp() + "/model")
        saver.restore(session, path)
        print("%.5f" % session.run(evaluate.loss))


if __name__ == "__main__":
    tf.app.run()
