"""What TensorFlow 1 and 2 both have and differs: the file, and which of them a call is for."""

import ast
import inspect
import re
import sys

import pytest

from compat.make import changed_names as generator
from compat.make import tables
from tpudist.surfaces import changed_names
from tpudist.surfaces.changed_names import BOTH, FIRST, SAME, SECOND
from tpudist.surfaces.tables import table


def generation(call):
    """The generation of a call that is written out."""
    node = ast.parse(call, mode="eval").body
    named = [each.arg for each in node.keywords if each.arg]
    placed = [each for each in node.args if not isinstance(each, ast.Starred)]
    complete = len(named) == len(node.keywords) and len(placed) == len(node.args)
    words = [node.func]
    while isinstance(words[0], ast.Attribute):
        words.insert(0, words[0].value)
    dotted = ".".join(each.attr for each in words[1:])
    return changed_names.generation(dotted, len(placed), named, complete)


CALLS = {
    FIRST: [
        "tf.nn.ctc_loss(labels=labels, inputs=logits, sequence_length=lengths)",
        "tf.reduce_sum(logits, axis=1, keep_dims=True)",
        "tf.argmax(logits, dimension=1)",
        "tf.nn.softmax(logits, dim=-1)",
        "tf.expand_dims(logits, dim=0)",
        "tf.reduce_mean(logits, reduction_indices=[1])",
        "tf.nn.dropout(logits, keep_prob=0.9)",
        "tf.nn.moments(logits, axes=[1], keep_dims=True)",
        "tf.nn.conv2d(x, filter=w, strides=1, padding='SAME')",
        "tf.nn.ctc_loss(labels, logits, lengths)",  # TensorFlow 2 needs four
        "tf.nn.dilation2d(x, w, strides, rates, 'SAME')",  # and six
        "tf.name_scope(None, 'layer', [x])",
        "tf.Variable(0.0, collections=[])",
        "tf.summary.scalar('loss', loss, family='train')",
        "tf.losses.mean_squared_error(labels=y, predictions=p)",
        "tf.reduce_sum(x, keep_dims=True, **more)",
        "tf.reduce_max(*x, reduction_indices=1)",
    ],
    SECOND: [
        "tf.summary.scalar('loss', loss, step=step)",
        "tf.summary.image('img', data=images)",
        "tf.nn.ctc_loss(labels, logits, label_length=n, logit_length=m)",
        "tf.image.resize(x, [2, 2], antialias=True)",
        "tf.saved_model.load(path)",
        "tf.losses.mean_squared_error(y_true=y, y_pred=p)",
        "tf.batch_to_space(x, block_shape=[2, 2], crops=c)",
        "tf.zeros_like(input=x)",
        "tf.sparse.split(x, 2, axis=0)",
    ],
    BOTH: [
        "tf.nn.dropout(x, keep_prob)",  # or a rate
        "tf.summary.scalar('loss', loss)",
        "tf.summary.image('img', images, max_outputs=3)",
        "tf.summary.histogram('h', images)",
        "tf.argmax(x, 1, tf.int32)",  # or a name
        "tf.batch_to_space(x, crops, 2)",
        "tf.random.poisson([2], [3])",
        "tf.math.in_top_k(a, b, 1)",
        "tf.image.resize(x, [2, 2])",
        "tf.where(c, x, y)",
        "tf.where(c, x=x, y=y)",
        "tf.random_normal_initializer()",
        "tf.random_uniform_initializer(-1.0)",
        "tf.image.extract_glimpse(x, size, offsets, normalized=False)",
        "tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)",
        "tf.losses.mean_squared_error(y, p)",
        "tf.reduce_sum(x, keep_dimensions=True)",  # neither takes it
        "tf.reduce_sum(keep_dims=True, axis=1, output=x)",
        "tf.reduce_sum(*arguments)",
        "tf.reduce_sum(x, **more)",
    ],
    SAME: [
        "tf.reduce_sum(x, 1, True)",
        "tf.reduce_sum(x, axis=1, keepdims=True, name='sum')",
        "tf.argmax(x, 1)",
        "tf.argmax(x, axis=1, output_type=tf.int32)",
        "tf.nn.dropout(x, rate=0.1)",
        "tf.nn.conv2d(x, w, [1, 1, 1, 1], 'SAME')",  # filter is filters
        "tf.transpose(x, [1, 0])",
        "tf.pad(x, [[1, 1]], constant_values=1)",
        "tf.where(c)",
        "tf.random_normal_initializer(stddev=0.1)",
        "tf.image.extract_glimpse(x, size, offsets)",
        "tf.zeros_like(x)",
        "tf.gradients(y, x)",
        "tf.matmul(x, y, transpose_b=True)",
        "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)",
        "tf.nn.relu(x, 'relu')",  # no name of the file
        "tf.data.Dataset.from_tensors(*x)",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("call", "expected"), [(call, expected) for expected, calls in CALLS.items() for call in calls]
)
def test_the_arguments_of_a_call_tell_its_generation(call, expected):
    assert generation(call) == expected


def _python_takes(parameters, required, positional, keyword):
    """Whether a call of a function that is defined with these parameters is one to Python."""
    optional = [each for each in parameters if each not in required and not each.startswith("*")]
    words = ("%s=None" % each if each in optional else each for each in parameters)
    function = eval("lambda %s: None" % ", ".join(words))
    try:
        inspect.signature(function).bind(*range(positional), **{keyword: 0})
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("positional", range(6))
def test_a_generation_takes_what_python_takes(positional):
    wrong = []
    for dotted, name in changed_names.changed_names().items():
        for keyword in {*name.first, *name.second, "unknown"}:
            if keyword.startswith("*"):
                continue
            first, second = (
                _python_takes(parameters, required, positional, keyword)
                for parameters, required in zip((name.first, name.second), name.required)
            )
            expected = {(True, False): [FIRST], (False, True): [SECOND], (False, False): [BOTH]}
            told = changed_names.generation(dotted, positional, [keyword])
            if told not in expected.get((first, second), [BOTH, SAME]):
                wrong.append((dotted, keyword, told))
    assert wrong == []


def test_a_name_of_the_file_is_read():
    dropout = changed_names.changed("nn.dropout")
    assert dropout.first == ("x", "keep_prob", "noise_shape", "seed", "name", "rate")
    assert dropout.second == ("x", "rate", "noise_shape", "seed", "name")
    assert dropout.required == ({"x"}, {"x", "rate"})
    assert dropout.kept_in_v1 and not dropout.always and not dropout.last
    assert changed_names.changed("reduce_sum").renamed == {
        "keep_dims": "keepdims",
        "reduction_indices": "axis",
    }
    assert changed_names.changed("random_normal_initializer").if_left_out == {"stddev"}
    assert changed_names.changed("losses.mean_squared_error").last == "2.15"
    assert "gradients" in changed_names.changed("nn.softmax_cross_entropy_with_logits").fact
    assert changed_names.changed("nn.relu") is None


@pytest.mark.parametrize(
    ("first", "in_v1", "kept", "parameters"),
    [
        ("x axis=None", "x axis=None dim=None", True, "x axis=None dim=None"),
        ("x axis=0", "x axis=None", True, "x axis=0"),
        ("_sentinel=None labels=None", "labels=None logits=None", True, "labels=None logits=None"),
        ("x", "*args", True, "*args"),
        ("x name=None", "x type=1 name=None", False, "x name=None * type=1"),
        ("x old=None", "x new=None", False, "x old=None * new=None"),
        ("x=None", "x", False, "x=None"),
        ("keyword_required=? a=1", "b=1", False, "* a=1 b=1"),
        ("keyword_required=? a=1", "keyword_required=? a=2 b=1", True, "* a=1 b=1"),
        ("x **more", "y=1", False, "x * y=1 **more"),
    ],
)
def test_the_parameters_of_1_15_and_of_compat_v1_are_merged(first, in_v1, kept, parameters):
    assert generator.is_kept(first.split(), in_v1.split()) is kept
    assert generator.merged(first.split(), in_v1.split(), kept) == parameters.split()


def _answers(first, second, alike=()):
    return {"release": "2.15.1", "first": first, "second": second, "alike": alike}


def test_a_name_whose_objects_differ_is_told_or_an_error():
    old, newest = _answers({"f": ["x"]}, {}), _answers({"f": ["x"]}, {"f": ["x"]})
    with pytest.raises(LookupError, match="EQUAL or MEANINGS: f$"):
        generator.lines(old, newest, [], {})
    newest["alike"] = ["f"]
    assert list(generator.lines(old, newest, [], {})) == []
    newest["first"] = newest["second"] = {"f": ["y", "x"]}
    assert list(generator.lines(old, newest, [], {})) == ["f | x | y x | lost"]


def test_a_name_that_tensorflow_2_lost_is_answered_by_the_last_that_had_it():
    old, newest = _answers({"f": ["x"], "g": ["x"]}, {}), _answers({"f": ["x"]}, {})
    between = _answers({}, {"f": ["y"], "g": ["y"]})
    assert list(generator.lines(old, newest, [between], {})) == ["f | x | y | kept last:2.15"]


@pytest.fixture(scope="module")
def newest():
    """What the installed TensorFlow answers, where it is the one that the file was made by."""
    tf = pytest.importorskip("tensorflow")
    keras = getattr(getattr(tf, "initializers", None), "__name__", "")
    text = tables.PAGE.read_text("utf-8")
    (made_by,) = re.findall(r"compat.make.changed_names, .* (\S+)\.\n", text)
    if tf.__version__ != made_by or "_tf_keras" not in keras:
        pytest.skip("the file says what TensorFlow %s and Keras 3 take" % made_by)
    return generator.signatures(sys.executable)  # a test may have changed this process's


@pytest.mark.slow
def test_the_file_is_what_the_installed_tensorflow_says(newest):
    stale, renamed = [], generator.renamed_parameters()
    for name, value in table("CHANGED_NAMES").items():
        columns = [each.strip() for each in value.split("|")]
        if " last:" not in value:
            asked = newest["first"].get(name), newest["second"].get(name), renamed.get(name, {})
            line = generator.row(name, columns[0].split(), *asked) if asked[1] is not None else ""
            if line != " | ".join([name, *columns]):
                stale.append(name)
    assert stale == [], "python -m compat.make.changed_names"


@pytest.mark.slow
def test_every_name_whose_objects_differ_is_in_the_file_or_has_a_reason(newest):
    equal = set(generator.equal_names())
    missing = generator.differing(newest) - set(changed_names.changed_names())
    assert missing - equal == set(), "python -m compat.make.changed_names"
    assert equal - missing == set(), "no longer differ"


@pytest.mark.slow
def test_the_file_has_what_tf_upgrade_v2_changes(newest):
    both = newest["first"].keys() & newest["second"].keys()
    names = changed_names.changed_names()
    reordered = {
        each.partition(".")[2] for each in generator.upgrade_table("reorders_v2.py", "reorders")
    }
    assert both & reordered <= names.keys()
    table = generator.upgrade_table("tf_upgrade_v2.py", "function_keyword_renames")
    untold = [
        (name, old)
        for name, pairs in ((name.partition(".")[2], pairs) for name, pairs in table.items())
        for old, new in pairs.items()
        if name in both
        and not (new and _takes(newest, name, old))
        and (name not in names or old in names[name].second or old not in names[name].first)
    ]
    assert untold == []


def _takes(newest, name, parameter):
    """Whether TensorFlow 2 takes a parameter by its old name too."""
    return any(each.partition("=")[0] == parameter for each in newest["second"][name])
