"""Edits are pieces of text: where they stand, and what they leave as it was."""

import ast
import sys

import pytest

from tests.tools.migrate import harness
from tpudist.tools.migrate import edits
from tpudist.tools.migrate.resolution import module as modules

TEXT = "f(one, two)  # why\n"


def edited(text, *changes):
    """A source after changes, each (method, words of the source, its other arguments)."""
    found = edits.Edits(text)
    for method, words, *rest in changes:
        start = text.index(words)
        place = (start,) if method == "insert" else (start, start + len(words))
        getattr(found, method)(*place, *rest)
    return found.applied()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([], TEXT),
        ([("replace", "one", "1")], "f(1, two)  # why\n"),
        ([("replace", "two", "2"), ("replace", "one", "1")], "f(1, 2)  # why\n"),
        ([("remove", ", two")], "f(one)  # why\n"),
        ([("wrap", "one", "[", "]")], "f([one], two)  # why\n"),
        ([("wrap", "one, two", "(", ")"), ("wrap", "one", "[", "]")], "f(([one], two))  # why\n"),
        ([("wrap", "one", "[", "]"), ("wrap", "one, two", "(", ")")], "f(([one], two))  # why\n"),
        ([("wrap", "two", "[", "]"), ("wrap", "one, two", "(", ")")], "f((one, [two]))  # why\n"),
        ([("replace", "one", "1"), ("wrap", "one", "[", "]")], "f([1], two)  # why\n"),
        ([("wrap", "one", "[", "]"), ("replace", "one", "1")], "f([1], two)  # why\n"),
        ([("replace", "one", "1"), ("replace", "f(one, two)", "g()")], "g()  # why\n"),
        ([("replace", "f(one, two)", "g()"), ("replace", "one", "1")], "g()  # why\n"),
        ([("replace", "one", "1"), ("replace", "one", "2")], "f(2, two)  # why\n"),
        ([("wrap", "one", "[", "]"), ("replace", "one, two", "1")], "f(1)  # why\n"),
        ([("wrap", "two", "[", "]"), ("replace", "one, two", "1")], "f(1)  # why\n"),
        ([("wrap", "one, two", "[", "]"), ("replace", "one", "1")], "f([1, two])  # why\n"),
        ([("insert", "two", "1, "), ("insert", "two", "2, ")], "f(one, 1, 2, two)  # why\n"),
        ([("insert", "one", "1, "), ("replace", "one", "2")], "f(1, 2, two)  # why\n"),
        ([("remove_lines", TEXT)], ""),
        ([("replace", TEXT[:-1], "g()")], "# why\ng()\n"),
        ([("replace", TEXT[:-1], "g()  # why")], "g()  # why\n"),
    ],
)
def test_edits(changes, expected):
    assert edited(TEXT, *changes) == expected


def test_a_comment_stands_above_all_that_is_removed_before_it():
    text = "x = f(\n  a,  # one\n  b,  # two\n  c  # three\n)\n"
    found = edited(text, ("remove", "a,  # one\n  "), ("remove", ",  # two\n  c"))
    assert found == "x = f(\n  # one\n  # two\n  b  # three\n)\n"


@pytest.mark.parametrize(
    "changes",
    [
        [("replace", "one, t", "1"), ("replace", "two", "2")],
        [("replace", "two", "2"), ("replace", "one, t", "1")],
        [("wrap", "one, t", "[", "]"), ("replace", "two", "2")],
    ],
)
def test_edits_that_overlap_are_refused(changes):
    with pytest.raises(edits.OverlapError):
        edited(TEXT, *changes)


@pytest.mark.parametrize(
    ("text", "removed", "expected"),
    [
        (
            "if a:\n    f(b,  # of b\n      c)\n",
            "b,  # of b\n      ",
            "if a:\n    # of b\n    f(c)\n",
        ),
        ("f(a,  # one\n  b,  # two\n  c)\n", "a,  # one\n  b,  # two\n  ", "# one\n# two\nf(c)\n"),
        ('f(a, "# no comment", c)\n', '"# no comment", ', "f(a, c)\n"),
        ("é = 1\nf(a,  # of é\n  b)\n", "a,  # of é\n  ", "é = 1\n# of é\nf(b)\n"),
    ],
)
def test_a_comment_in_what_is_removed_stands_above(text, removed, expected):
    assert edited(text, ("remove", removed)) == expected


#: {a source: the arguments of the call of ``f`` in it, as they stand}.
ARGUMENTS = {
    "f()": [],
    "f(a, (b), *c, k=1, **d)": ["a", "(b)", "*c", "k=1", "**d"],
    "f (  a  ,\n  b, # c\n  k = (1),\n)": ["a", "b", "k = (1)"],
    "f(k=1, *a)": ["k=1", "*a"],
    "(f)((a))": ["(a)"],
    "f(((a)))": ["((a))"],
    "f((a), (b))": ["(a)", "(b)"],
    "f((a, b), ())": ["(a, b)", "()"],
    "f((a) + (b), -(c))": ["(a) + (b)", "-(c)"],
    "f((a).b, (c)[(d)], (e).g())": ["(a).b", "(c)[(d)]", "(e).g()"],
    "f((a for a in b))": ["(a for a in b)"],
    "f(* a, ** (b))": ["* a", "** (b)"],
    "f(lambda x: x, k=lambda: (1))": ["lambda x: x", "k=lambda: (1)"],
    "f(k=(yield), j=(x := 1))": ["k=(yield)", "j=(x := 1)"],
    "f(k=k, kk=k, a='k=1')": ["k=k", "kk=k", "a='k=1'"],
    "f('a' 'b', (\n 'c'\n 'd'))": ["'a' 'b'", "(\n 'c'\n 'd')"],
    "f(\n\t(a),\n\tk=\\\n\t1)": ["(a)", "k=\\\n\t1"],
    "f(\\\n  (\\\n  a))": ["(\\\n  a)"],
    "f(\r\n  (a),\r\n  b)\r\n": ["(a)", "b"],
    'ü = f(é, "日本", (ключ), k="ö")': ["é", '"日本"', "(ключ)", 'k="ö"'],
    "f((  # a)\n  a), k=  # k=\n  1)": ["(  # a)\n  a)", "k=  # k=\n  1"],
    "f(a  # )\n )": ["a"],
    "class A((b), k=f((c))): pass": ["(c)"],
    "@f(a, (b))\ndef g(c=(d)): pass": ["a", "(b)"],
    "x = f'{f(a, (b))}'": ["a", "(b)"],
    "x = f'{ é!r:>{w}} {f(a, k=b)}'": ["a", "k=b"],
    "f(f'é{a}', (b))": ["f'é{a}'", "(b)"],
}


@pytest.mark.parametrize("text", ARGUMENTS)
def test_where_arguments_stand(text):
    module = modules.Module("a.py", text)
    (call,) = [node for node in module.of(ast.Call) if modules.last_word(node.func) == "f"]
    if call in module.unplaced:  # in an f-string, before Python 3.12
        return
    found = module.arguments(call)
    assert [text[each.start : each.end] for each in found] == ARGUMENTS[text]
    for each in found:
        said = text[each.start : each.end].replace(" ", "")
        assert said.startswith((each.name + "=" if each.name else each.star) or said)


#: Expressions and statements in layouts that no call has.
LAYOUTS = [
    "((a), b)\n[(a)]\n{(a): (b)}\n(a)[0], (a)[(b):c]\n",
    "(a) if (b) else (c)\nnot (a)\n((a)) and (b)\n(a) < (b) < c\n",
    "(a).b.c\n((a).b).c\n(a\n  .b  # why\n).c\n",
    "x = (\n  a\n)\nassert (a), (b)\ndel (a), (b)\nreturn_ = (a)\n",
    "for (a) in (b): pass\nwith (a) as (b): pass\nif (f(a)): pass\n",
    "é = 'é', ü.é, '日本' + ß\nif é:\n\té = (é)\n",
    "f'{a} é {b.c!r:>{d}} {(e)[0]}', 'é' f'{g}'\nf'''\n{a}\n{ b }'''\n",
]


@pytest.mark.parametrize("text", [*LAYOUTS, *ARGUMENTS])
def test_the_source_of_an_expression_is_that_expression(text):
    module = modules.Module("a.py", text)
    for node in module.of(ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Tuple, ast.BinOp):
        if node in module.unplaced:  # in an f-string, before Python 3.12
            continue
        for start, end in (module.span(node), module.outer_span(node)):
            found = ast.parse("(%s\n)" % text[start:end]).body[0].value
            assert _dumped(found) == _dumped(node)


def _dumped(node):
    return ast.dump(node).replace("Store()", "Load()").replace("Del()", "Load()")


_HEAD = """import tensorflow as tf
from tensorflow.contrib import distribute
s = tf.contrib.distribute.MirroredStrategy()
"""
#: Lines before and after of layouts that ``cases`` has not.
LINES = [
    ("(s.call_for_each_tower)(f, x)", "(s.experimental_run_v2)(f, args=(x,))"),
    ("s.call_for_each_tower( f, x)", "s.experimental_run_v2( f, args=(x,))"),
    ("s.call_for_each_tower(f,x)", "s.experimental_run_v2(f,args=(x,))"),
    ("s.call_for_each_tower(f, x, )", "s.experimental_run_v2(f, args=(x,), )"),
    ("s.call_for_each_tower(f, (x))", "s.experimental_run_v2(f, args=((x),))"),
    ("s.call_for_each_tower(f, k = 1)", 's.experimental_run_v2(f, kwargs={"k": 1})'),
    (
        's.call_for_each_tower(f, (lambda a, b=2: a), {1: 2}, "a" "b", é="é", j=not x)',
        's.experimental_run_v2(f, args=((lambda a, b=2: a), {1: 2}, "a" "b"), '
        'kwargs={"é": "é", "j": not x})',
    ),
    (
        "s.call_for_each_tower(f, s.num_towers, k=s.unwrap(x))",
        "s.experimental_run_v2(f, args=(s.num_replicas_in_sync,), "
        'kwargs={"k": s.experimental_local_results(x)})',
    ),
    (
        "s.call_for_each_tower(f, s.call_for_each_tower(g, 1))",
        "s.experimental_run_v2(f, args=(s.experimental_run_v2(g, args=(1,)),))",
    ),
    (
        "s.call_for_each_tower(f, (  # one\n    x), k=(  # two\n    y))",
        's.experimental_run_v2(f, args=((  # one\n    x),), kwargs={"k": (  # two\n    y)})',
    ),
    (
        "s.call_for_each_tower(f, k=  # k=\n    1)",
        '# k=\ns.experimental_run_v2(f, kwargs={"k": 1})',
    ),
    (
        "n = s.num_towers + \\\n    s.\\\n    num_towers + (s. num_towers)",
        "n = s.num_replicas_in_sync + \\\n    s.\\\n    num_replicas_in_sync"
        " + (s. num_replicas_in_sync)",
    ),
    (
        "x = (s\n     # of what\n     .unwrap)(x), s.unwrap  # passed on",
        "x = (s\n     # of what\n     .experimental_local_results)(x), "
        "s.experimental_local_results  # passed on",
    ),
    (
        "s.reduce(tf.VariableAggregation.MEAN, (x), destinations=(  # there\n    '/cpu:0'))",
        "# there\ns.reduce(tf.distribute.ReduceOp.MEAN, (x), axis=None)",
    ),
    (
        "s.reduce(tf.VariableAggregation.SUM, s.call_for_each_tower(f, x), '/cpu:0')",
        "s.reduce(tf.distribute.ReduceOp.SUM, s.experimental_run_v2(f, args=(x,)), axis=None)",
    ),
    (
        "r = (tf  # the first\n     .contrib.cluster_resolver).TPUClusterResolver('a')",
        "# the first\nr = tf.distribute.cluster_resolver.TPUClusterResolver('a')",
    ),
    (
        "r = (tf.contrib.cluster_resolver.TPUClusterResolver)('a')",
        "r = (tf.distribute.cluster_resolver.TPUClusterResolver)('a')",
    ),
    (
        "tf.contrib.distribute.TPUStrategy(tf.contrib.cluster_resolver.TPUClusterResolver('a'))",
        "tf.distribute.experimental.TPUStrategy("
        "tf.distribute.cluster_resolver.TPUClusterResolver('a'))",
    ),
    ("print('é', s.num_towers)", "print('é', s.num_replicas_in_sync)"),
]


@pytest.mark.parametrize(("before", "after"), LINES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_lines_of_odd_layouts(tmp_path, before, after, newline):
    text = (_HEAD + before + "\n").replace("\n", newline)
    texts, left = harness.migrated(tmp_path, {"a.py": text}, "2.0")
    assert texts["a.py"].endswith(newline + after.replace("\n", newline) + newline)
    assert left == set()


def test_names_in_f_strings_are_told_where_python_does_not_place_them(tmp_path):
    use = "print(f'{s.num_towers} é {s.unwrap(x)[0]:>{s.num_towers}}', s.num_towers)\n"
    texts, left = harness.outcome(tmp_path, {"a.py": _HEAD + use}, "2.0")
    if sys.version_info >= (3, 12):
        use = use.replace("unwrap", "experimental_local_results")
        assert texts["a.py"].endswith(use.replace("num_towers", "num_replicas_in_sync"))
    else:
        assert texts["a.py"].endswith(use[: -len("num_towers)\n")] + "num_replicas_in_sync)\n")
        assert {(each.line, each.seen.partition(":")[0]) for each in left} == {
            (4, "s.num_towers"),
            (4, "s.unwrap"),
        }
