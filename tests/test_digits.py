"""The examples' data and progress bar."""

import hashlib
import importlib.util
import io
import os
import re
import sys

import numpy as np
import pytest

EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples")


@pytest.fixture(scope="module")
def digits():
    spec = importlib.util.spec_from_file_location("digits", os.path.join(EXAMPLES, "digits.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Stream(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


def test_shapes_types_and_ranges(digits):
    (train_x, train_y), (test_x, test_y) = digits.load()
    assert train_x.shape == (1536, 8, 8, 1) and test_x.shape == (261, 8, 8, 1)
    assert train_y.shape == (1536,) and test_y.shape == (261,)
    assert train_x.dtype == test_x.dtype == np.float32
    assert train_y.dtype == test_y.dtype == np.int32
    assert train_x.shape[0] % 256 == 0
    for images in (train_x, test_x):
        assert images.min() == 0 and images.max() == 1
    for labels in (train_y, test_y):
        assert set(labels) == set(range(10))


def test_the_labels_are_the_whole_test_set_of_the_source(digits):
    (_, train_y), (_, test_y) = digits.load()
    counts = np.bincount(np.concatenate([train_y, test_y]))
    # The repository's own class distribution of optdigits.tes.
    assert counts.tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_the_split_never_changes(digits):
    (train_x, train_y), (test_x, test_y) = digits.load()
    data = b"".join(each.astype("<f4").tobytes() for each in (train_x, train_y, test_x, test_y))
    assert hashlib.sha256(data).hexdigest() == (
        "35117ecb4240835165439465f69d1fdf6ed3414aa96ade10122207e32ab62757"
    )


def test_images_belong_to_their_labels(digits):
    """A nearest-neighbour rule finds the test digits, so pixels and labels go together."""
    (train_x, train_y), (test_x, test_y) = digits.load()
    train, test = train_x.reshape(len(train_x), -1), test_x.reshape(len(test_x), -1)
    distance = (train**2).sum(1) - 2 * test.dot(train.T)
    assert (train_y[distance.argmin(1)] == test_y).mean() > 0.97


def test_progress_in_a_log_is_a_line_each_tenth(digits, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Stream(terminal=False))
    for step in range(1, 31):
        digits.progress(step, 30, loss=1.0 / step)
    lines = sys.stderr.getvalue().splitlines()
    assert len(lines) == 10 and "\r" not in sys.stderr.getvalue()
    assert lines[-1] == "[%s] 30/30  loss 0.0333" % ("#" * 30)


def test_progress_of_few_steps_shows_each(digits, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Stream(terminal=False))
    for step in range(1, 4):
        digits.progress(step, 3)
    assert [re.search(r"\d/3", line).group() for line in sys.stderr.getvalue().splitlines()] == [
        "1/3",
        "2/3",
        "3/3",
    ]


def test_progress_on_a_terminal_redraws_one_line(digits, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Stream(terminal=True))
    for step in range(1, 31):
        digits.progress(step, 30, loss=2.0, accuracy=0.5)
    text = sys.stderr.getvalue()
    assert text.count("\r") == 30 and text.count("\n") == 1 and text.endswith("\n")
    assert "accuracy 0.5000  loss 2.0000" in text
