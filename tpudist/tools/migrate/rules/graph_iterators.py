"""Datasets from a function have no iterators in graphs of 2.x: ``make_input_fn_iterator`` has.

The public name of the strategies of ``tf.compat.v1`` is still the one of 1.13.
It takes the same function, and its iterator has ``initializer`` and ``get_next``.
With TensorFlow 2's behavior no distributed dataset has them: ``make_dataset_iterator`` has.
"""

import libcst as cst

STEP = "2.0"
NOTE = (
    "https://www.tensorflow.org/api_docs/python/tf/compat/v1/distribute/Strategy"
    "#make_input_fn_iterator"
)
NEW = "make_input_fn_iterator"
_OF_DATASET = "make_dataset_iterator"
USES = [
    ("function_dataset", "make_initializable_iterator"),
    ("dataset", "make_initializable_iterator"),
]


def apply(use):
    """Makes the iterator where the dataset was made.

    Args:
      use: the `Use`.
    """
    made = _made(use)
    if use.kind == "dataset":
        return _of_dataset(use, made) if keeps_v2(use) else None
    if made is None:
        return use.leave(
            "no dataset from a function has it in graphs of 2.x",
            "iterator = strategy.%s(dataset_fn) of tf.compat.v1, where the dataset is made" % NEW,
        )
    use.plan.iterators.add(made)
    if made.func.attr.value != "distribute_dataset":  # that one has a rule, which looks here
        use.plan.replace(made, lambda call: call.with_changes(func=use.renamed(NEW, call.func)))
    return use.rewrite(use.call, lambda call: call.func.value, NEW)


def keeps_v2(use):
    """Whether the program builds graphs with TensorFlow 2's behavior."""
    return use.plan.survey.keeps_v2(use.module.path)


def _of_dataset(use, made):
    """Makes the iterator where the dataset was made, if that is seen."""
    if made is None or made.func.attr.value != "experimental_distribute_dataset":
        return leave_v2(use)
    use.plan.replace(made, lambda call: call.with_changes(func=use.renamed(_OF_DATASET, call.func)))
    return use.rewrite(use.call, lambda call: call.func.value, _OF_DATASET)


def leave_v2(use):
    """Leaves an iterator of a program whose distributed datasets are those of TensorFlow 2."""
    if keeps_v2(use):
        use.leave(
            "no distributed dataset has an initializable one with TensorFlow 2's behavior",
            "tf.compat.v1.disable_v2_behavior() where the program starts",
        )


def _made(use):
    """The call that makes the dataset: here, or given to a variable that has no other use."""
    if use.call is None or use.call.args or not use.is_v1():
        return None
    if not use.plan.survey.builds_graph(use.module.path):
        return None  # an iterator of 1.13 would be read as one of eager code later
    node = use.node.value
    if isinstance(node, cst.Name):
        node = _assigned_once(use.module, node)
    is_method = isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute)
    if not is_method or not use.evaluator.is_only(use.module, node.func.value, "strategy"):
        return None
    return node


def _assigned_once(module, name):
    """What a variable is assigned to that is assigned once and read once."""
    assignments = list(module.scope(name)[name.value])
    if len(assignments) != 1 or len(assignments[0].references) != 1:
        return None
    assign = module.assign(assignments[0])
    if assign is None or len(assign.targets) != 1:
        return None
    if assignments[0].scope is module.global_scope():
        return None  # another file may read it
    return assign.value
