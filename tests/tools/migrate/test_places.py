"""Where a use was in the user's file, after a step has moved it."""

import pytest

from tests.tools.migrate import harness
from tpudist.tools.migrate import edits as edits_lib

TEXT = "abc\ndef\nghi\n"


@pytest.mark.parametrize(
    "changes, after, places",
    [
        ([], TEXT, {0: 0, 5: 5, 11: 11}),
        ([(0, 0, "new\n")], "new\nabc\ndef\nghi\n", {0: 0, 3: 0, 4: 0, 8: 4}),
        ([(4, 7, "longer")], "abc\nlonger\nghi\n", {3: 3, 4: 4, 9: 4, 10: 7, 11: 8}),
        ([(0, 4, ""), (8, 11, "x\ny")], "def\nx\ny\n", {0: 4, 3: 7, 4: 8, 6: 8, 7: 11}),
    ],
)
def test_where_the_source_had_what_is_there_now(changes, after, places):
    edits = edits_lib.Edits(TEXT)
    for change in changes:
        edits.replace(*change)
    assert edits.applied() == after
    assert {place: edits.before(place) for place in places} == places


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


def test_what_a_step_wrote_is_quoted_as_it_was(tmp_path):
    text = "import tensorflow as tf\ns = tf.contrib.distribute.TPUStrategy(r)\n"
    text += "d = s.distribute_dataset(f)\nx = d.make_initializable_iterator()\n"
    harness.put(tmp_path, {"a.py": text})
    left = harness.results(tmp_path, "latest")["a.py"].left
    assert [use.seen in text for use in left] == [True] * len(left) and left
