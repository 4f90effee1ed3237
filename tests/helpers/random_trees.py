"""Random programs for what reads programs: any expression may stand in place of any other."""

import ast
import copy
import warnings

#: What the readers of programs ask for, in usual places.
SEEDS = (
    "get('a')\nd.get('a')\nvars(tf)['Session']\nvars().get(x)\nglobals()['tf'].train\n",
    "import tensorflow as tf\nif hasattr(tf, 'contrib'):\n  tf.contrib.tpu.TPUEstimator(f)\n",
    "from tensorflow.contrib import distribute as d\ns = d.TPUStrategy(r, steps_per_run=1)\n",
    "try:\n  from tensorflow import Session\nexcept (ImportError, KeyError) as e:\n  raise\n",
    "class A(tf.keras.Model):\n  def call(self, *a, b=tf.keras, **k):\n    self.tf.log(a)\n",
    "with strategy.scope() as s, open(f):\n  loss = s.experimental_run_v2(step, args=(x,))\n",
    "model.fit(x, y, sample_weight=w)\nmodel.train_on_batch(*rows)\ns.unwrap(v)[0]\n",
    "f = lambda tf=tf, *a: getattr(tf, 'contrib', None) or tf.__dict__['contrib']\n",
    "for s in [getattr(m, n) for m in ms if n in m]:\n  del s.run, x[1:2]\nelse:\n  {**x}\n",
    "async def g():\n  async with a as b:\n    yield await b.reduce(tf.ReduceOp.SUM, x)\n",
    "k = importlib.import_module('tensorflow.' + f'{name!r}').tower_id\nx += 1 if k else 2\n",
    "from tpudist.v2_0 import tensorflow as tf\ns = tf.distribute.get_strategy()\ns.group(x)\n",
)


def mixed(choose, count):
    """The text of a program that Python compiles, or None if what came out is none.

    Args:
      choose: a function from a list to one of its elements.
      count: how many expressions are replaced.
    """
    tree = ast.parse("".join(choose(SEEDS) for _ in range(3)))
    others = [node for seed in SEEDS for node in ast.walk(ast.parse(seed))]
    others = [node for node in others if isinstance(node, ast.expr) and _is_read(node)]
    for _ in range(count):
        holder, field, index = choose(_places(tree))
        new = copy.deepcopy(choose(others))
        if index is None:
            setattr(holder, field, new)
        else:
            getattr(holder, field)[index] = new
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = ast.unparse(ast.fix_missing_locations(tree))
            compile(text, "random", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    return text


def _is_read(node):
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _places(tree):
    """(node, field, index or None) of every expression that is read."""
    found = []
    for holder in ast.walk(tree):
        for field, value in ast.iter_fields(holder):
            if isinstance(value, list):
                every = enumerate(value)
            else:
                every = [(None, value)]
            for index, each in every:
                if isinstance(each, ast.expr) and _is_read(each):
                    found.append((holder, field, index))
    return found
