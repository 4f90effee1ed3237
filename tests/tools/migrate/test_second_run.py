"""A second run changes nothing, and tells what the first one told."""

import collections
import functools
import importlib
import os
import re

import pytest

from tests.tools.migrate import harness
from tpudist import surfaces
from tpudist.surfaces import leads

CASES = [
    (name[:-4], case)
    for name in sorted(os.listdir(harness.CASES))
    if name.startswith("programs")
    for case in harness.programs(name[:-4])
]

#: The first run rewrites two names of this import, and tells two.
FORGOTTEN = """import tensorflow as tf
from tensorflow.contrib import framework

nest = framework.nest
print(nest.flatten([[1], 2]), nest.is_sequence([1]))
with tf.Session() as session:
    print(session.run(tf.zeros([1])))
"""
DOCSTRING = '''import tensorflow as tf

def inputs():
    """Makes the input.

    >>> x = tf.placeholder(tf.float32)
    """
    return tf.placeholder(tf.float32)

with tf.Session() as session:
    print(session.run(inputs() + 1, {"Placeholder:0": 1.0}))
'''


def told(results):
    """{(file, key): how often some Results tell it}."""
    found = collections.Counter()
    for path, result in results.items():
        for use in result.left:
            found[path, use.rule] += 1
    return found


def twice(folder, files, to, **changes):
    """The outcome of a run, and of a second one on what it wrote."""
    harness.put(folder, files)
    first = harness.results(folder, to, **changes)
    for path, result in first.items():
        with open(os.path.join(str(folder), path), "wb") as file:
            file.write(result.after)
    return first, harness.results(folder, to, **changes)


@pytest.mark.parametrize(("name", "case"), CASES, ids=["%s: %s" % (n, c.name) for n, c in CASES])
def test_of_a_case(tmp_path, name, case):
    files = {path: before for path, (before, _) in case.files.items()}
    first, second = twice(tmp_path, files, case.to, **case.options)
    assert not [path for path, each in second.items() if each.before != each.after]
    assert told(first) == told(second)


def test_names_of_a_package_that_carries_a_module_on_are_judged(tmp_path):
    first, second = twice(tmp_path, {"lib.py": FORGOTTEN}, "latest")
    assert b"import tf_slim as framework" in first["lib.py"].after
    seen = [use.seen for use in second["lib.py"].left]
    assert seen == ["framework.nest", "nest.is_sequence"]
    assert told(first) == told(second)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("import tf_slim as slim\nslim.conv2d(x, 3)\n", []),
        ("import tf_slim as slim\nslim.embedding_column(x)\n", ["slim.embedding_column"]),
        ("from tf_slim import layers\nlayers.embedding_column(x)\n", ["layers.embedding_column"]),
        ("from tf_slim import layers\nlayers.l2_regularizer(0.1)\n", []),
        ("import tf_slim\ntf_slim.of_a_later_release(x)\n", []),
        ("import tensorflow_probability as tfp\ntfp.distributions.Normal(0, 1)\n", []),
        (
            "import tensorflow_probability as tfp\ntfp.distributions.percentile(x, 3)\n",
            ["tfp.distributions.percentile"],
        ),
    ],
)
def test_names_of_packages(tmp_path, text, seen):
    _, left = harness.outcome(tmp_path, {"a.py": "import tensorflow as tf\n" + text}, "latest")
    assert [use.seen for use in left] == seen


@pytest.mark.parametrize("package", ["tf_slim", "tensorflow_probability"])
def test_packages_do_not_have_what_is_judged(package):
    pytest.importorskip(package)
    resolve = pytest.importorskip("pkgutil").resolve_name
    for full in leads.not_carried():
        if full.startswith(package + "."):
            with pytest.raises((AttributeError, ImportError)):
                resolve(full)


@pytest.mark.parametrize(("to", "count"), [("2.0", 0), ("2.2", 0), ("latest", 2)])
@pytest.mark.parametrize(
    "text",
    [
        "from tensorflow.contrib import slim\nslim.conv2d(x, 2, normalizer_fn=slim.batch_norm)\n"
        "slim.conv2d(x, 2, normalizer_fn=slim.batch_norm)\n",
        "y = tf.contrib.layers.batch_norm(x)\ntf.contrib.layers.optimize_loss(y, s, 1.0, 'SGD')\n",
    ],
)
def test_what_does_not_run_is_told_of_the_package_as_well(tmp_path, text, to, count):
    first, second = twice(tmp_path, {"a.py": "import tensorflow as tf\n" + text}, to)
    assert told(first)["a.py", "contrib-homes"] == count
    assert told(first) == told(second)
    assert b"tf_slim" in first["a.py"].after
    assert second["a.py"].before == second["a.py"].after


def _in_net(tf, slim, made, _):
    """Calls a net, or a convolution in the scope of one."""
    image = tf.zeros([1, 64, 64, 3])
    if not made.__name__.endswith("_arg_scope"):
        return made(image, *[[]] * (made.__name__ == "resnet_v2"))
    with slim.arg_scope(made()):
        return slim.conv2d(image, 2, 3)


@pytest.mark.slow
def test_what_is_told_of_tf_slim_does_not_run():
    tf = pytest.importorskip("tensorflow", minversion="2.16").compat.v1
    slim = pytest.importorskip("tf_slim")
    calls = {
        "batch_norm": lambda x: slim.batch_norm(x, is_training=True),
        "optimize_loss": lambda x: slim.optimize_loss(tf.reduce_sum(x), None, 0.1, "SGD"),
        "rev_block": lambda x: slim.layers.rev_block(x, x, slim.flatten, slim.flatten),
        "recompute_grad": lambda x: slim.recompute_grad(lambda y: y)(x),
    }
    for name in surfaces.SLIM_ENDED - calls.keys():
        home = "resnet_v1" if name == "resnet_arg_scope" else name[: name.index("_v") + 3]
        made = getattr(importlib.import_module("tf_slim.nets." + home), name)
        calls[name] = functools.partial(_in_net, tf, slim, made)
    for name, call in calls.items():
        with tf.Graph().as_default(), pytest.raises((AttributeError, ImportError)):
            call(tf.get_variable(name, initializer=[[1.0, 2.0]]))


def test_examples_in_a_docstring_use_the_name_of_the_file(tmp_path):
    first, second = twice(tmp_path, {"model.py": DOCSTRING}, "latest")
    assert not first["model.py"].left and not second["model.py"].left


def test_text_that_names_tensorflow_itself_is_not_of_compat_v1(tmp_path):
    text = (
        'import tensorflow as tf\nx = tf.placeholder("float")\nmock.patch("tensorflow.Session")\n'
    )
    first, second = twice(tmp_path, {"a.py": text}, "latest")
    assert told(first) == told(second) == {("a.py", "indirect-names"): 1}


def test_a_file_that_stays_at_contrib_moves_no_other_file(tmp_path):
    files = {
        "old.py": "import tensorflow as tf\ntf.contrib.tpu.TPUEstimator(f)\n",
        "new.py": "import tensorflow as tf\ns = tf.distribute.get_strategy()\n"
        "s.experimental_local_results(x)\ntf.tpu.experimental.initialize_tpu_system()\n",
    }
    first, second = twice(tmp_path, files, "2.2")
    assert not [path for path, each in second.items() if each.before != each.after]
    assert b"tpudist.contrib" in first["old.py"].after


SUM = """import tensorflow as tf
s = tf.contrib.distribute.TPUStrategy(tf.contrib.cluster_resolver.TPUClusterResolver())
def tower(x):
    return tf.train.AdamOptimizer(0.1).minimize(*losses(x))
s.call_for_each_tower(tower, y)
"""
MARK = "  # tpudist: left[loss-scaling]\n"


def test_what_no_later_run_can_see_gets_a_mark(tmp_path):
    first, second = twice(tmp_path, {"a.py": SUM}, "latest")
    assert (".minimize(*losses(x))" + MARK) in first["a.py"].after.decode()
    assert [(use.line, use.rule) for use in second["a.py"].left] == [(4, "loss-scaling")]


def test_without_its_mark_nothing_is_told(tmp_path):
    first, _ = twice(tmp_path, {"a.py": SUM}, "latest")
    text = first["a.py"].after.decode().replace(MARK, "\n")
    _, left = harness.outcome(tmp_path, {"a.py": text}, "latest")
    assert not left


def test_a_line_that_goes_on_gets_no_mark(tmp_path):
    text = SUM.replace("(*losses(x))", "(*losses(x)) + \\\n        z")
    first, _ = twice(tmp_path, {"a.py": text}, "latest")
    assert b"tpudist: left" not in first["a.py"].after


@pytest.mark.parametrize("keras", ["2", "3"])
def test_programs_of_the_proof_are_told_the_same_twice(tmp_path, keras):
    texts = {}
    for path in sorted(os.listdir(os.path.join(harness.CASES, "proof"))):
        with open(os.path.join(harness.CASES, "proof", path), encoding="utf-8") as file:
            parts = re.split(r"^== (.*)\n", file.read(), flags=re.M)[1:]
        for name, text in zip(parts[::2], parts[1::2]):
            texts["%s.py" % re.sub(r"\W", "_", name)] = text
    first, second = twice(tmp_path, texts, "latest", keras=keras)
    assert not [path for path, each in second.items() if each.before != each.after]
    assert told(first) == told(second)
