"""Real handwritten digits for the examples, and a progress bar. Numpy only.

See ``data/README.md`` for where the digits come from.
"""

import gzip
import os
import sys

import numpy as np

TRAIN = 1536  # six global batches of 256
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "digits.csv.gz")

_WIDTH = 30


def load():
    """The 1797 digits, split once and for all.

    Returns:
      ``(train_x, train_y), (test_x, test_y)``: images, float32
      ``[1536 or 261, 8, 8, 1]`` between 0 and 1, and labels, int32 ``[1536]``
      and ``[261]`` between 0 and 9. The order is shuffled, and always the same.
    """
    with gzip.open(DATA, "rt") as file:
        rows = np.loadtxt(file, delimiter=",", dtype=np.float32)
    rows = rows[np.random.RandomState(0).permutation(len(rows))]
    images = (rows[:, :64] / 16).reshape(-1, 8, 8, 1).astype(np.float32)
    labels = rows[:, 64].astype(np.int32)
    return (images[:TRAIN], labels[:TRAIN]), (images[TRAIN:], labels[TRAIN:])


def progress(step, steps, **numbers):
    """Shows how far a training loop is, on standard error.

    On a terminal one line is redrawn; elsewhere (a file, a CI log) a line
    appears at each tenth of the way.

    Args:
      step: steps done, from 1 to ``steps``.
      steps: steps in all.
      **numbers: what to show beside the bar, e.g. ``loss=0.31``.
    """
    terminal = sys.stderr.isatty()
    if not terminal and step * 10 // steps == (step - 1) * 10 // steps:
        return
    done = _WIDTH * step // steps
    shown = "  ".join("%s %.4f" % pair for pair in sorted(numbers.items()))
    line = "[%s%s] %d/%d  %s" % ("#" * done, "." * (_WIDTH - done), step, steps, shown)
    end = "\n" if step >= steps or not terminal else ""
    sys.stderr.write(("\r" if terminal else "") + line + end)
    sys.stderr.flush()
