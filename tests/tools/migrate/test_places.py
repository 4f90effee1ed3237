"""Where a use is in the user's file, whatever is written around it."""

from tests.tools.migrate import harness


def test_a_file_in_which_every_line_changes(tmp_path):
    text = (
        "from tensorflow.contrib.distribute import TPUStrategy, get_tower_context\n"
        "s = TPUStrategy(r, 3)\n"
        + "s.call_for_each_tower(f)\n\n" * 30
        + "if s: s.experimental_make_numpy_dataset(x, session)\n"
    )
    harness.put(tmp_path, {"a.py": text})
    (use,) = harness.results(tmp_path, "latest")["a.py"].left
    assert (use.rule, use.line, use.column) == ("numpy-dataset", 63, 7)


def test_what_is_quoted_is_in_the_file(tmp_path):
    text = "import tensorflow as tf\ns = tf.contrib.distribute.TPUStrategy(r)\n"
    text += "d = s.distribute_dataset(f)\nx = d.make_initializable_iterator()\n"
    harness.put(tmp_path, {"a.py": text})
    left = harness.results(tmp_path, "latest")["a.py"].left
    assert [use.seen in text for use in left] == [True] * len(left) and left
