"""Datasets of TensorFlow 2 make no iterators: ``tf.compat.v1.data.make_one_shot_iterator`` does."""

import libcst as cst

NAME = "dataset-iterators"
STEP = "2.0"
NOTE = "https://www.tensorflow.org/api_docs/python/tf/compat/v1/data/make_one_shot_iterator"
_OF_STRATEGIES = {("is", "dataset"), ("is", "function_dataset")}
USES = [("any", "make_one_shot_iterator"), ("any", "make_initializable_iterator")]


def apply(use):
    """Rewrites ``dataset.make_one_shot_iterator()``; a strategy's dataset has other rules.

    Args:
      use: the `Use`.
    """
    if use.is_v1() or use.tensorflow_name(use.node) is not None:
        return
    if use.call is not None and any(not each.keyword for each in use.call.args):
        return  # a function of that name
    owner = use.node.value
    if not _OF_STRATEGIES.isdisjoint(use.evaluator.values(use.module, owner)):
        return
    root = use.plan.bound_root()
    new = "%s.compat.v1.data.%s" % (root or "tf", use.name)
    may_be_a_strategys = use.module.path in use.plan.survey.strategic
    if may_be_a_strategys and not _is_of_data(use, owner, set()):
        use.leave("no dataset of TensorFlow 2 has it", "%s(dataset); iter(dataset) if a strategy "
                  "distributes it" % new)  # fmt: skip
    elif use.call is None or root is None:
        use.leave("no dataset of TensorFlow 2 has it", "%s(dataset)" % new)
    else:
        use.rewrite(use.call, lambda call: _call(new, call), new)


def _call(new, call):
    first = cst.Arg(call.func.value)
    return call.with_changes(func=cst.parse_expression(new), args=[first, *call.args])


def _is_of_data(use, node, seen):
    """Whether an expression is a dataset of tf.data: made there, or by methods of such a one."""
    while isinstance(node, (cst.Attribute, cst.Call)):
        name = use.tensorflow_name(node)
        if name is not None:
            return name.startswith("data.")
        node = node.func if isinstance(node, cst.Call) else node.value
    if not isinstance(node, cst.Name):
        return False
    if node.value in seen:
        return True
    assigned = [use.module.assign(each) for each in use.module.scope(node)[node.value]]
    seen = seen | {node.value}
    return bool(assigned) and all(each and _is_of_data(use, each.value, seen) for each in assigned)
