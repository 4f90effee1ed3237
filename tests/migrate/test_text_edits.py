"""An edit of an expression's source is what libcst writes for the file."""

import os

import pytest

from tests.migrate import harness
from tpudist.migrate import engine, survey
from tpudist.resolution import codebase

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
