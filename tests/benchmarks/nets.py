"""Models that exercise batching: sequences, tables, control flow, unknown shapes.

Each is made and trained as the models of :mod:`tests.benchmarks.models` are. Options:
``scale`` (1 is the full size) makes widths and lengths smaller for a quick run.
"""

import numpy as np
import tensorflow as tf

layers = tf.keras.layers


def cross_entropy(labels, logits):
    """The loss of each example."""
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


class Net:
    """A model whose ``layers`` are called once, to make their variables."""

    features = 16

    def __init__(self, options):
        self._scale = options.get("scale", 1)
        self.build(options)
        x, y = self.batch(2, options)
        self.losses(tf.constant(x), tf.constant(y))
        made = [value for value in vars(self).values() if isinstance(value, (list, tuple))]
        found = [layer for group in made for layer in group]
        self.variables = [v for layer in found for v in layer.trainable_variables]
        self.optimizer = tf.keras.optimizers.SGD(0.01)

    @classmethod
    def batch(cls, size, options):
        """`size` rows of numbers, and labels from 0 to 9."""
        random = np.random.RandomState(0)
        return (
            random.standard_normal((size, cls.features)).astype(np.float32),
            random.randint(10, size=size).astype(np.int32),
        )


def _images(size, side, channels):
    random = np.random.RandomState(0)
    return random.rand(size, side, side, channels).astype(np.float32), random


def _tokens(size, length, words):
    return np.random.RandomState(0).randint(words, size=(size, length + 1)).astype(np.int32)


class DropoutCnn(Net):
    """Two convolutions with ``tf.nn.dropout`` after each."""

    def build(self, options):
        """Makes the layers."""
        self._layers = [
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.Dense(10),
        ]

    def losses(self, x, y):
        """float32 ``[n]`` for images ``[n, 16, 16, 1]``."""
        first, second, last = self._layers
        x = tf.nn.dropout(tf.nn.max_pool2d(first(x), 2, 2, "SAME"), 0.25)
        x = tf.nn.dropout(tf.nn.max_pool2d(second(x), 2, 2, "SAME"), 0.25)
        return cross_entropy(y, last(tf.reshape(x, [-1, 4 * 4 * 64])))

    @classmethod
    def batch(cls, size, options):
        """Images and labels."""
        images, random = _images(size, 16, 1)
        return images, random.randint(10, size=size).astype(np.int32)


class UNet(Net):
    """Down twice, up twice by transposed convolutions, with skips."""

    def build(self, options):
        """Makes the layers."""

        def conv(filters):
            return layers.Conv2D(filters, 3, padding="same", activation="relu")

        self._down = [conv(16), conv(32), conv(64)]
        self._up = [layers.Conv2DTranspose(32, 2, 2), layers.Conv2DTranspose(16, 2, 2)]
        self._across = [conv(32), conv(16), layers.Conv2D(2, 1)]

    def losses(self, x, y):
        """float32 ``[n]`` for images ``[n, 32, 32, 3]`` and masks ``[n, 32, 32]``."""
        first = self._down[0](x)
        second = self._down[1](tf.nn.max_pool2d(first, 2, 2, "SAME"))
        x = self._down[2](tf.nn.max_pool2d(second, 2, 2, "SAME"))
        x = self._across[0](tf.concat([self._up[0](x), second], -1))
        x = self._across[1](tf.concat([self._up[1](x), first], -1))
        return tf.reduce_mean(cross_entropy(y, self._across[2](x)), [1, 2])

    @classmethod
    def batch(cls, size, options):
        """Images and masks."""
        images, random = _images(size, 32, 3)
        return images, random.randint(2, size=(size, 32, 32)).astype(np.int32)


class Dlrm(Net):
    """Eight embedding tables and their products, as in a recommender."""

    tables = 8

    def build(self, options):
        """Makes the layers."""
        self._tables = [layers.Embedding(1000, 32) for _ in range(self.tables)]
        self._top = [layers.Dense(128, "relu"), layers.Dense(64, "relu"), layers.Dense(2)]

    def losses(self, x, y):
        """float32 ``[n]`` for ids ``[n, 8]``."""
        found = tf.stack([table(x[:, i]) for i, table in enumerate(self._tables)], 1)
        products = tf.matmul(found, found, transpose_b=True)
        x = tf.concat(
            [tf.reshape(products, [-1, self.tables**2]), tf.reshape(found, [-1, 32 * self.tables])],
            1,
        )
        for layer in self._top:
            x = layer(x)
        return cross_entropy(y, x)

    @classmethod
    def batch(cls, size, options):
        """Ids and clicks."""
        random = np.random.RandomState(0)
        return (
            random.randint(1000, size=(size, cls.tables)).astype(np.int32),
            random.randint(2, size=size).astype(np.int32),
        )


class Bert(Net):
    """Four Transformer layers of 256, sequence 128, at full scale."""

    words, heads = 1000, 4

    def build(self, options):
        """Makes the layers."""
        self._width, self._depth = int(256 * self._scale), max(1, int(4 * self._scale))
        self._embedding = [layers.Embedding(self.words, self._width)]
        self._dense = [
            layers.Dense(units, activation=activation)
            for _ in range(self._depth)
            for units, activation in (
                (3 * self._width, None),
                (self._width, None),
                (4 * self._width, "gelu"),
                (self._width, None),
            )
        ]
        self._norms = [layers.LayerNormalization() for _ in range(2 * self._depth)]
        self._last = [layers.Dense(self.words)]

    def losses(self, x, y):
        """float32 ``[n]`` for ids ``[n, length]``."""
        h = self._embedding[0](x)
        for i in range(self._depth):
            qkv, out, wide, narrow = self._dense[4 * i : 4 * i + 4]
            h = self._norms[2 * i](h + out(self._attend(qkv(h))))
            h = self._norms[2 * i + 1](h + narrow(wide(h)))
        return tf.reduce_mean(cross_entropy(y, self._last[0](h)), 1)

    def _attend(self, qkv):
        length, each = qkv.shape[1], self._width // self.heads
        q, k, v = tf.unstack(
            tf.transpose(tf.reshape(qkv, [-1, length, 3, self.heads, each]), [2, 0, 3, 1, 4])
        )
        weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / each**0.5)
        mixed = tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3])
        return tf.reshape(mixed, [-1, length, self._width])

    @classmethod
    def batch(cls, size, options):
        """Ids, and the same."""
        tokens = _tokens(size, int(128 * options.get("scale", 1)), cls.words)
        return tokens[:, :-1], tokens[:, :-1]


class Lstm(Net):
    """A language model: embedding, Keras LSTM of 256, sequence 32 at full scale."""

    words = 1000

    def build(self, options):
        """Makes the layers."""
        width = int(256 * self._scale)
        self._layers = [
            layers.Embedding(self.words, width),
            layers.LSTM(width, return_sequences=True),
            layers.Dense(self.words),
        ]

    def losses(self, x, y):
        """float32 ``[n]`` for ids ``[n, length]``."""
        for layer in self._layers:
            x = layer(x)
        return tf.reduce_mean(cross_entropy(y, x), 1)

    @classmethod
    def batch(cls, size, options):
        """Ids, and the next ones."""
        tokens = _tokens(size, int(32 * options.get("scale", 1)), cls.words)
        return tokens[:, :-1], tokens[:, 1:]


class While(Net):
    """One layer applied ten times in a ``tf.while_loop``."""

    features = 256

    def build(self, options):
        """Makes the layers."""
        self._layers = [layers.Dense(self.features, "tanh"), layers.Dense(10)]

    def losses(self, x, y):
        """float32 ``[n]`` for rows ``[n, 256]``."""
        _, x = tf.while_loop(
            lambda i, x: i < 10, lambda i, x: (i + 1, self._layers[0](x)), (tf.constant(0), x)
        )
        return cross_entropy(y, self._layers[1](x))


class WhileSmall(While):
    """The same while all numbers are small: they are, but only the run knows."""

    def losses(self, x, y):
        """float32 ``[n]`` for rows ``[n, 256]``."""
        _, x = tf.while_loop(
            lambda i, x: (i < 10) & (tf.reduce_max(tf.abs(x)) < 50.0),
            lambda i, x: (i + 1, self._layers[0](x)),
            (tf.constant(0), x),
        )
        return cross_entropy(y, self._layers[1](x))


class _Cell:
    """An LSTM cell as ``tf.nn.dynamic_rnn`` takes one, of any Keras or none."""

    def __init__(self, width):
        self.output_size, self.state_size = width, (width, width)
        self._width = width
        self._layer = layers.Dense(4 * width)

    @property
    def trainable_variables(self):
        """Its weights."""
        return self._layer.trainable_variables

    def zero_state(self, batch_size, dtype):
        """Zeros, twice."""
        return (tf.zeros([batch_size, self._width], dtype),) * 2

    def __call__(self, inputs, state, scope=None):
        """What it returns, and its state, after one time."""
        i, j, f, o = tf.split(self._layer(tf.concat([inputs, state[1]], 1)), 4, 1)
        kept = tf.sigmoid(f + 1.0) * state[0] + tf.sigmoid(i) * tf.tanh(j)
        output = tf.sigmoid(o) * tf.tanh(kept)
        return output, (kept, output)


class DynamicRnn(Net):
    """A language model as of TensorFlow 1: ``dynamic_rnn`` over sentences of unequal lengths."""

    words, cells = 1000, 1

    def build(self, options):
        """Makes the layers."""
        width = int(256 * self._scale)
        self._cells = [_Cell(width) for _ in range(self.cells)]
        self._layers = [layers.Embedding(self.words, width), layers.Dense(self.words)]

    def losses(self, x, y):
        """float32 ``[n]`` for ids ``[n, length]``, of which zeros are no words."""
        outputs = self._outputs(self._layers[0](x), tf.math.count_nonzero(x, 1, dtype=tf.int32))
        return tf.reduce_mean(cross_entropy(y, self._layers[1](outputs)), 1)

    def _outputs(self, x, lengths):
        return tf.compat.v1.nn.dynamic_rnn(self._cells[0], x, lengths, dtype=tf.float32)[0]

    @classmethod
    def batch(cls, size, options):
        """Ids, and the next ones."""
        length = int(32 * options.get("scale", 1))
        tokens = 1 + _tokens(size, length, cls.words - 1)
        kept = np.random.RandomState(1).randint(length // 2, length - 1, size=(size, 1))
        tokens *= np.arange(length + 1) < kept
        return tokens[:, :-1], tokens[:, 1:]


class BidirectionalRnn(DynamicRnn):
    """The same in both directions."""

    cells = 2

    def _outputs(self, x, lengths):
        outputs, _ = tf.compat.v1.nn.bidirectional_dynamic_rnn(
            *self._cells, x, lengths, dtype=tf.float32
        )
        return tf.concat(outputs, -1)


class Decoder(DynamicRnn):
    """A decoder in training: a loop until every sentence of the batch has ended."""

    def _outputs(self, x, lengths):
        (cell,), length = self._cells, x.shape[1]
        words = tf.TensorArray(tf.float32, length).unstack(tf.transpose(x, [1, 0, 2]))

        def step(time, finished, state, outputs):
            output, new_state = cell(words.read(time), state)
            state = [tf.where(finished[:, None], old, new) for old, new in zip(state, new_state)]
            outputs = outputs.write(time, tf.where(finished[:, None], 0.0, output))
            return time + 1, finished | (time + 1 >= lengths), tuple(state), outputs

        outputs = tf.TensorArray(tf.float32, length, element_shape=x.shape[::2])
        state = cell.zero_state(tf.shape(x)[0], tf.float32)
        outputs = tf.while_loop(
            lambda time, finished, *_: ~tf.reduce_all(finished),
            step,
            (tf.constant(0), lengths <= 0, state, outputs),
        )[3]
        return tf.transpose(outputs.stack(), [1, 0, 2])


class Mask(Net):
    """A loss over the examples that a ``tf.boolean_mask`` leaves."""

    features = 256

    def build(self, options):
        """Makes the layers."""
        self._layers = [layers.Dense(512, "relu"), layers.Dense(512, "relu"), layers.Dense(10)]

    def losses(self, x, y):
        """float32 ``[m]`` for the m rows of ``[n, 256]`` that begin with a positive number."""
        kept = x[:, 0] > 0
        x = self._layers[1](self._layers[0](x))
        return cross_entropy(tf.boolean_mask(y, kept), self._layers[2](tf.boolean_mask(x, kept)))


NETS = {
    "cnn_dropout": DropoutCnn,
    "unet": UNet,
    "dlrm": Dlrm,
    "bert": Bert,
    "lstm": Lstm,
    "while_loop": While,
    "while_small": WhileSmall,
    "dynamic_rnn": DynamicRnn,
    "bidirectional_rnn": BidirectionalRnn,
    "decoder": Decoder,
    "boolean_mask": Mask,
}
