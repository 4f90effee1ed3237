"""A file with names of TensorFlow 1 alone, and of TensorFlow 2 alone: each stays what it is."""

import pytest

from tests.tools.migrate import harness

_SECOND = "tf.random.set_seed(1)\n"


def _migrated(folder, text, to="latest"):
    harness.put(folder, {"a.py": "import tensorflow as tf\n" + text})
    result = harness.results(folder, to)["a.py"]
    return result, result.after.decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.logging.info(1)", "tf.compat.v1.logging.info(1)"),
        ("tf.log(tf.to_float(1))", "tf.compat.v1.log(tf.compat.v1.to_float(1))"),
        ("x = tf.GraphKeys", "x = tf.compat.v1.GraphKeys"),
        ("tf.compat.v1.logging.info(tf.log(1))", "tf.compat.v1.logging.info(tf.compat.v1.log(1))"),
        ("from tensorflow import gfile, io", None),
    ],
)
@pytest.mark.parametrize("to", ["2.2", "latest"])
def test_only_names_of_tensorflow_1_are_those_of_compat_v1(tmp_path, before, after, to):
    _, text = _migrated(tmp_path, _SECOND + before + "\ntf.add_check_numerics_ops()\n", to)
    home = "tensorflow" if to == "latest" else "tpudist.v2_2.tensorflow"
    assert text.startswith("import tensorflow as tf\n" if to == "latest" else "from tpudist.v2_2")
    assert _SECOND in text and "compat.v1.compat" not in text
    if after is None:
        assert "from %s import io\nfrom %s.compat.v1 import gfile\n" % (home, home) in text or (
            "from %s.compat.v1 import gfile\nfrom %s import io\n" % (home, home) in text
        )
    else:
        assert after + "\n" in text


def test_a_session_is_that_of_compat_v1_and_the_program_builds_graphs(tmp_path):
    _, text = _migrated(tmp_path, _SECOND + "tf.Session().run(tf.log(1.0))\n")
    assert "tf.compat.v1.Session().run(tf.compat.v1.log(1.0))" in text
    assert text.count("tf.compat.v1.disable_v2_behavior()") == 1


def test_what_is_gone_is_told(tmp_path):
    result, text = _migrated(tmp_path, _SECOND + "tf.layers.dense(1, 2)\ntf.log(1)\n")
    assert [(use.rule, use.line) for use in result.left] == [("gone-names", 3)]
    assert "tf.layers.dense(1, 2)\ntf.compat.v1.log(1)\n" in text


@pytest.mark.parametrize(
    "text",
    [
        "tf.log(1)\n",
        "if hasattr(tf.random, 'set_seed'):\n    tf.random.set_seed(1)\nelse:\n    tf.log(1)\n"
        "tf.log(2)\n",
        "tf.compat.v2.random.set_seed(1)\ntf.log(1)\n",
    ],
)
def test_other_files_of_tensorflow_1_get_its_tf(tmp_path, text):
    _, after = _migrated(tmp_path, text)
    assert after.startswith("import tensorflow.compat.v1 as tf\n") and "tf.compat.v1." not in after


def test_a_file_named_alone_is_of_the_program_around_it(tmp_path):
    files = {
        ".git/x": "",
        "layers.py": "import tensorflow as tf\ndef drop(x):\n    return tf.nn.dropout(x, 0.9)\n",
        "train.py": "import tensorflow as tf\nimport layers\n"
        "with tf.Session() as s:\n    s.run(layers.drop(tf.placeholder(tf.float32)))\n",
    }
    harness.put(tmp_path, files)
    code = harness.migrate(tmp_path / "layers.py", "--to", "latest", "--write")
    assert code == 0
    assert (tmp_path / "layers.py").read_text("utf-8").startswith("import tensorflow.compat.v1")
    assert (tmp_path / "train.py").read_text("utf-8") == files["train.py"]
