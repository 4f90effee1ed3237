"""Every way to give rows to a model of Keras under a strategy, beside the same on one device.

A cell of the table is one call of ``fit``, ``evaluate`` or ``predict``. Its oracle is the same call
of plain Keras on one device, with the batches that a step takes. Each row's number is a sum of no
other rows, so that a mean over rows says which of them were seen.

``python -m tests.keras.row_cases WAY MODEL TPU [VERB or KIND ...]`` prints what each cell gives.
"""

import contextlib
import itertools
import json
import sys
import threading

import numpy as np
import tensorflow as tf

from tests.helpers import cores
from tpudist.contrib import strategy as contrib
from tpudist.errors import TpudistError
from tpudist.keras import tpu_models
from tpudist.legacy import plain_failures
from tpudist.system import cluster
from tpudist.tfcompat import versions
from tpudist.v2_0 import strategy as v2_0
from tpudist.v2_2 import strategy as v2_2

keras = tf.keras

WAYS = ("distribute", "contrib", "tpu_model", "v2_0", "v2_2")
MODELS = ("sequential", "functional", "subclassed")
VERBS = ("fit", "evaluate", "predict")
KINDS = ("numpy", "dropped", "batched", "unknown", "generator")
ELEMENTS = ("x", "xy", "xyw")
STEPS = ("given", "none", "more")
ROWS = ("even", "uneven")

#: Ways of code of TensorFlow 1, which builds a graph.
GRAPHS = ("distribute", "contrib", "tpu_model")


def cells(verbs=VERBS, kinds=KINDS, elements=ELEMENTS, steps=STEPS, rows=ROWS):
    """The cells of a way and a model that mean something: nothing is trained without labels."""
    for cell in itertools.product(verbs, kinds, elements, steps, rows):
        verb, kind, element, _, _ = cell
        if verb != "predict" and element == "x":
            continue
        if verb == "predict" and kind == "numpy" and element != "x":
            continue
        yield cell


class Data:
    """The rows of a cell.

    Args:
      kind, element, rows: of the cell.
      batch: rows of a batch of a dataset or generator.
      a_step: rows of a step.
    """

    def __init__(self, kind, element, rows, batch, a_step):
        self.kind, self.element, self.batch = kind, element, batch
        count = 3 * a_step + (batch + 1 if rows == "uneven" else 0)
        number = np.arange(1, count + 1, dtype=np.float32)
        self.parts = (
            np.stack([number, number**2 / 64], 1),
            np.zeros([count, 1], np.float32),
            1 + (number % 3),
        )[: len(element)]
        whole, rest = divmod(count, a_step)
        if kind == "dropped":
            rest = rest - rest % batch
        self.steps = whole + bool(rest)

    def given(self, verb):
        """Positional and keyword arguments of the call."""
        if self.kind == "numpy":
            x, y, w = self.parts + (None,) * (3 - len(self.parts))
            keywords = {} if w is None else {"sample_weight": w}
            return ((x,) if y is None else (x, y)), dict(keywords, batch_size=self.batch)
        if self.kind == "generator":
            return (self._generated(),), {}
        return (self._dataset(),), {}

    def _generated(self):
        for start in range(0, len(self.parts[0]), self.batch):
            made = tuple(part[start : start + self.batch] for part in self.parts)
            yield made if len(made) > 1 else made[0]

    def _dataset(self):
        parts = self.parts if len(self.parts) > 1 else self.parts[0]
        dataset = tf.data.Dataset.from_tensor_slices(parts)
        dataset = dataset.batch(self.batch, drop_remainder=self.kind == "dropped")
        return dataset.filter(lambda *row: True) if self.kind == "unknown" else dataset


def net(kind):
    """A linear model whose prediction is the sum of a row."""
    ones = lambda: keras.layers.Dense(1, kernel_initializer="ones")  # noqa: E731
    if kind == "sequential":
        return keras.Sequential(
            [keras.layers.Dense(1, kernel_initializer="ones", input_shape=(2,))]
        )
    if kind == "functional":
        x = keras.layers.Input((2,))
        return keras.Model(x, ones()(x))

    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = ones()

        def call(self, x):
            return self.dense(x)

    return Net()


def compiled(way, model, rate, **keywords):
    """A model with an optimizer of the way's time."""
    optimizer = (
        tf.compat.v1.train.GradientDescentOptimizer(rate)
        if way in GRAPHS
        else keras.optimizers.SGD(rate)
    )
    model.compile(optimizer, "mse", metrics=["mae"], **keywords)
    return model


def strategy_of(way, tpu):
    """A strategy of the way's surface, or what ``keras_to_tpu_model`` takes."""
    resolver = cluster.TPUClusterResolver(cores.named(tpu))
    if way == "tpu_model":
        return tpu_models.TPUDistributionStrategy(resolver)
    facade = {"v2_0": v2_0, "v2_2": v2_2}.get(way, contrib)
    return facade.TPUStrategy(resolver)


def made(way, kind, tpu, rate):
    """The distributed model of a way."""
    strategy = strategy_of(way, tpu)
    if way == "distribute":
        return compiled(way, net(kind), rate, distribute=strategy)
    if way == "tpu_model":
        return tpu_models.keras_to_tpu_model(compiled(way, net(kind), rate), strategy)
    with strategy.scope():
        return compiled(way, net(kind), rate)


def called(model, cell, data):
    """What the call gives: numbers to compare, by name."""
    verb, _, _, steps, _ = cell
    positional, keywords = data.given(verb)
    if steps != "none":
        name = "steps_per_epoch" if verb == "fit" else "steps"
        keywords[name] = data.steps + (2 if steps == "more" else 0)
    if verb == "fit":
        keywords["shuffle"] = False
    result = getattr(model, verb)(*positional, verbose=0, **keywords)
    if verb == "predict":
        return {"rows": np.ravel(result)}
    if verb == "evaluate":
        return {"loss": result[0], "mae": result[1]}
    history = result.history
    names = [name for name in history if name.endswith(("mae", "mean_absolute_error"))]
    kept = {"loss": history["loss"][-1]}
    if names:
        kept["mae"] = history[names[0]][-1]
    return dict(kept, weights=np.ravel(model.get_weights()[0]))


def both(way, kind, tpu, cell):
    """What the cell gives under the strategy and on one device; an exception is a result.

    One device is not asked for more steps than there are: from release to release plain Keras
    divides a loss by the steps asked for, by those done, or refuses. A model of
    ``keras_to_tpu_model`` is called as one device is.
    """
    verb, data, element, _, rows = cell
    a_step = 2 * int(tpu.split(":")[1])
    batch = 2 if way == "distribute" and data not in ("numpy", "generator") else a_step
    rate = 1e-4 if rows == "even" else 0.0
    parts = data, element, rows, batch, a_step
    plain = verb, data, element, "none" if data == "numpy" else "given", rows
    if way == "tpu_model":
        plain = cell
    ours = _outcome(way, lambda: called(made(way, kind, tpu, rate), cell, Data(*parts)))
    whole_steps = way == "distribute" and verb == "fit" and data != "numpy"
    theirs = _outcome(
        way, lambda: called(compiled(way, net(kind), rate), plain, _whole(*parts, whole_steps))
    )
    return ours, theirs


def _whole(kind, element, rows, batch, a_step, whole_steps):
    """The rows of a cell, in batches of a step.

    A step of training takes a batch for each tower, where a tower takes a whole one: the batches
    left over are not trained.
    """
    data = Data(kind, element, rows, batch, a_step)
    kept = len(data.parts[0])
    batches = kept // batch if kind == "dropped" else -(-kept // batch)
    kept = min(kept, batches * batch)
    if whole_steps:
        kept = min(kept, batches * batch // a_step * a_step)
        data.steps = -(-kept // a_step)
    data.parts = tuple(part[:kept] for part in data.parts)
    data.kind = "batched" if kind == "dropped" else kind
    data.batch = a_step
    return data


_kept = []


def _outcome(way, call):
    """What a call gives in a thread of its own: a Keras that failed leaves its scope entered.

    The exception keeps the scope, which no other thread can leave.
    """
    found = []

    def run():
        try:
            with tf.Graph().as_default() if way in GRAPHS else contextlib.ExitStack():
                found.append(call())
        except Exception as error:  # of whatever kind: it is compared  # noqa: BLE001
            _kept.append(error)
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


#: Words of Keras that say what to type.
_ADVICE = ("please pass the", "We suggest")


def verdict(way, cell, ours, theirs):
    """ "equal", "refused", "as one device", or what is wrong with the cell."""
    if isinstance(ours, Exception):
        if isinstance(theirs, Exception) and type(ours) is type(theirs):
            return "as one device"
        explained = isinstance(ours, TpudistError) or plain_failures.explained(ours) is not None
        if explained or any(words in str(ours) for words in _ADVICE):
            return "refused"
        return "%s: %s" % (type(ours).__name__, str(ours)[-200:])
    if isinstance(theirs, Exception):
        return "one device raises %r" % theirs
    wrong = [
        "%s %s, not %s" % (name, np.asarray(value).tolist(), np.asarray(theirs[name]).tolist())
        for name, value in ours.items()
        if _is_compared(way, cell, name) and not _close(value, theirs[name])
    ]
    return "; ".join(wrong) or "equal"


def _is_compared(way, cell, name):
    """Whether a number has to be one device's.

    Keras of TensorFlow 1 divides each replica's loss by the number of replicas, however few rows
    it has, and the sum by the steps that were asked for; with MirroredStrategy too.
    """
    _, kind, _, steps, rows = cell
    if name in ("loss", "weights") and (way in GRAPHS or not versions.TF2):
        return rows == "even" and steps != "more" and (kind, steps) != ("generator", "none")
    return True


def _close(one, other):
    one, other = np.asarray(one), np.asarray(other)
    return one.shape == other.shape and np.allclose(one, other, 1e-4, 1e-5)


def main(way, kind, tpu, *chosen):
    """Prints {cell: verdict} of a way, a model and a TPU; of all verbs and kinds, or the chosen."""
    verbs = [verb for verb in VERBS if verb in chosen] or VERBS
    kinds = [each for each in KINDS if each in chosen] or KINDS
    if (way in GRAPHS) == versions.TF2:
        of_the_way = "disable" if way in GRAPHS else "enable"
        getattr(tf.compat.v1, of_the_way + "_v2_behavior")()
    found = {
        " ".join(cell): verdict(way, cell, *both(way, kind, tpu, cell))
        for cell in cells(verbs, kinds)
    }
    print("RESULT " + json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
