"""An edit of an expression's source is what libcst writes for the file."""

import os

import pytest

from tests.tools.migrate import harness
from tpudist.tools.migrate import engine, survey
from tpudist.tools.migrate.resolution import codebase

OLD = """import tensorflow as tf
from tensorflow.contrib import distribute

resolver = tf.contrib.cluster_resolver.TPUClusterResolver("a")
resolver = (tf.contrib.cluster_resolver.TPUClusterResolver)("a")
resolver = (tf  # the first
            .contrib.cluster_resolver).TPUClusterResolver("a")
strategy = tf.contrib.distribute.TPUStrategy(resolver)
other = (distribute.TPUStrategy  # why
         )(resolver)
number = strategy.num_towers + (strategy.num_towers) + (strategy. num_towers)
number = strategy.num_towers + \\
    strategy.\\
    num_towers
values = strategy.unwrap(strategy.call_for_each_tower(lambda: strategy.num_towers))
values = (strategy
          # of what
          .unwrap)(values), strategy.unwrap  # passed on
s = strategy
s.call_for_each_tower(f)
s.call_for_each_tower(f, x)
s.call_for_each_tower(f, (x), [y for y in x], *z, k=1, **more)
s.call_for_each_tower(f, *z)
s.call_for_each_tower(f, **more)
s.call_for_each_tower(f, k=(1), run_concurrently=False)
s.call_for_each_tower(f,x)
s.call_for_each_tower(f, x, )
s.call_for_each_tower( f, x)
s.call_for_each_tower(f, k = 1)
s.call_for_each_tower(f, (lambda a, b=2: a), {1: 2}, "a" "b", é="é", j=not x)
s.call_for_each_tower(f, s.num_towers, k=s.unwrap(x))
s.call_for_each_tower(f, s.call_for_each_tower(g, 1))
(s.call_for_each_tower)(f, x)
s.call_for_each_tower(
    f, x,
    k=1)
s.call_for_each_tower(f, (
    x))
s.reduce(tf.VariableAggregation.SUM, x)
s.reduce(tf.VariableAggregation.MEAN, (x), destinations="/cpu:0")
s.reduce(aggregation=tf.VariableAggregation.MEAN, value=x, destinations=None)
s.reduce(value=x, aggregation=tf.VariableAggregation.MEAN, destinations=None)
s.reduce(tf.VariableAggregation.SUM,  x, None)
s.reduce(tf.VariableAggregation.SUM, s.call_for_each_tower(f, x), "/cpu:0")
s.reduce((tf.VariableAggregation.SUM), [s.num_towers, x][0])
tf.contrib.distribute.TPUStrategy(resolver, steps_per_run=10)
tf.contrib.distribute.TPUStrategy(resolver, 10)
tf.contrib.distribute.TPUStrategy(tpu_cluster_resolver=resolver, steps_per_run=10,)
(tf.contrib.distribute.TPUStrategy)(resolver, steps_per_run=10)
distribute.TPUStrategy(resolver, steps_per_run=s.num_towers)
tf.contrib.distribute.TPUStrategy(tf.contrib.cluster_resolver.TPUClusterResolver("a"), 10)
print("é", strategy.num_towers, strategy.reduce(tf.VariableAggregation.SUM, values, None))
"""


@pytest.mark.parametrize("to", ["2.0", "2.2", "latest"])
def test_it_is_what_libcst_writes(tmp_path, to):
    harness.put(tmp_path, {"a.py": OLD})
    files = codebase.CodeBase([str(tmp_path)])
    known = survey.Survey(files)
    migrating = engine.Engine(files, known, harness.options(to))
    path = os.path.join(str(tmp_path), "a.py")
    quick, exact = migrating.migrate(path), migrating.migrate(path, exact=True)
    assert quick.after.decode() == exact.after.decode() != OLD
    told = [
        [(use.line, use.rule, use.instead) for use in each.rewritten] for each in (quick, exact)
    ]
    assert told[0] == told[1]
