"""Law 5: nothing but ``legacy/`` patches TensorFlow or what imports find.

Where an object of TensorFlow's gets a class or a private attribute, it stands in
`OBJECTS`, with the reason. What a program itself sets in a drop-in namespace reaches TensorFlow
(`dropin/replaced_names.py`).
"""

import ast

import pytest

from tests.laws import source

#: Who may write to the import system without writing to TensorFlow, and why.
MAY_IMPORT = {
    "tpudist/dropin/__init__.py": "makes modules below tpudist's own drop-ins importable",
    "tpudist/tfcompat/estimators.py": "gives tensorflow-estimator the modules of TensorFlow "
    "that it asks for and that are gone; no other code has their names",
    "tpudist/dropin/finder.py": "likewise; it answers for no name outside tpudist",
    "tpudist/dropin/namespace.py": "forgets a drop-in's module that only stood for a gone one",
}

#: (file, attribute): why an object that somebody else made gets it. Classes and
#: modules never do: that is patching.
OBJECTS = {
    ("backends/strategies.py", "_enable_packed_variable_in_eager_mode"): "what the native "
    "constructors set; a facade's strategy does not go through them",
    (
        "backends/strategies.py",
        "_tpu_cluster_resolver",
    ): "our extended object; Keras and the native class read it there",
    ("keras/split_models.py", "_name"): "our copy of a model: Keras wants another name for each of "
    "a model's layers, and copies them with theirs",
    ("strategy/contexts.py", "_tpudist_context"): "the surface's object for a replica, which is "
    "one as long as TensorFlow's is",
    ("keras/tpu_models.py", "_unconditional_loss"): "our tensor: Keras reads there whether a "
    "loss depends on the inputs",
    ("tfcompat/distributed_before_2_2.py", "__class__"): "releases before 2.2 make the variable "
    "and choose its class themselves",
    ("tfcompat/estimators.py", "_distribute_coordinator_mode"): "a config of the package: "
    "the function of TensorFlow's that set it is gone",
    ("tfcompat/tpu.py", "__class__"): "our op: a program looks for one whose type is "
    "CrossReplicaSum, of which TensorFlow makes none without a TPU",
    ("tfcompat/distributed_before_2_2.py", "_distribute_strategy"): "what 1.14 set on the variable "
    "before it got our class, which keeps it elsewhere",
    ("tfcompat/placed_graphs.py", "_original_op"): "our op: the op that it is a gradient of, as "
    "the native constructor notes it",
    (
        "tfcompat/distributed_values.py",
        "_from_components",
    ): "the type of our value: a function makes its results by it; nests take no subclass",
    ("tfcompat/functions.py", "_captured_inputs"): "releases without a constructor that takes "
    "captures",
    ("backends/mirrored.py", "_collective_key_base"): "the native constructor reads it off "
    "the strategy",
    ("tfcompat/clusters.py", "_collective_key_base"): "likewise",
    ("tfcompat/collectives.py", "_next_instance_key"): "our strategy's object: the native "
    "constructor makes it, and numbers collectives wherever they are",
    ("virtual/extended.py", "_collective_key_base"): "the native constructor reads it off the "
    "strategy before it is set",
    ("virtual/extended.py", "_enable_packed_variable_in_eager_mode"): "who sets it on the strategy "
    "would read the first replica's value on all",
    (
        "virtual/trace/function_graphs.py",
        "_tpudist_trace",
    ): "the trace that a graph belongs to is found from the graph that is current",
    ("virtual/replicas/program.py", "_tpudist_trace"): "likewise, of a branch or loop",
    (
        "virtual/input/inputs.py",
        "__class__",
    ): "the native method makes the dataset; only its iterators differ",
    (
        "virtual/input/inputs.py",
        "_iterator",
    ): "one iterator a host: the native one, of all its devices, "
    "may wait for ever at the end of the data",
    (
        "virtual/input/global_batches.py",
        "_cloned_datasets",
    ): "the native constructor makes a pipeline of "
    "pieces; ours are cut from the batches of the user's own",
    ("virtual/input/iterators.py", "__class__"): "as in inputs.py",
    (
        "virtual/input/iterators.py",
        "_iterators",
    ): "one iterator a host, in place of the native ones",
    ("tfcompat/distributed.py", "_values"): "our variable gets a copy per replica when they may "
    "differ",
    ("tfcompat/distributed.py", "_index"): "likewise on 1.13",
    (
        "virtual/variables/storage.py",
        "_own_strategy",
    ): "our variable knows who made it; 1.13 tells none",
    ("virtual/keras_loops.py", "_variable_creator_stack"): "a graph keeps it per thread; a replica "
    "has its own thread, and Keras makes variables in the outer graph",
    ("virtual/keras_loops.py", "_distribution_strategy_stack"): "likewise",
    (
        "virtual/variables/stored_once.py",
        "_assumed_equal",
    ): "our variable: a graph relies on one value",
    (
        "virtual/variables/splits.py",
        "_handle_name",
    ): "copies of an eager variable have names of their "
    "own and share one resource name, for which TensorFlow keeps one kernel",
    (
        "virtual/variables/splits.py",
        "_distributed_container",
    ): "the copies know the variable that they are of, as TensorFlow's do",
    (
        "virtual/variables/stored_once.py",
        "_tpudist_variable",
    ): "a trace captures a handle, and must find the variable behind it",
    (
        "virtual/variables/stored_once.py",
        "_tpudist_creation_frames",
    ): "a report names the line that made a variable, and knows its handle",
    ("tfcompat/made_ops.py", "_tpudist_alias_of"): "our copy of an eager tensor is that tensor",
    (
        "virtual/vectorize/values/batched_values.py",
        "_tensors",
    ): "ours: a copy of a layout gets tensors",
    ("tfcompat/made_ops.py", "_tpudist_constants"): "the constants of a graph of ours, for as long "
    "as it lives",
    (
        "virtual/variables/splits.py",
        "_tpudist_makers",
    ): "how to make the siblings of a variable, for as long as the graph lives that made it",
    (
        "tools/compile/lowering/symbolic_replicas.py",
        "__class__",
    ): "ours: scopes that are open know the object, so that a new one would not do",
    ("dropin/__init__.py", "__class__"): "ours: a module becomes a namespace, as PEP 562 allows",
}
#: Where the objects that are under construction are our own.
BUILDERS = (
    "virtual/input/inputs.py:extended",
    "dropin/namespace.py:module",
    "dropin/namespace.py:space",
)

CHANGERS = ("setattr", "delattr")
TABLES = (
    ["sys", "modules"],
    ["sys", "meta_path"],
    ["sys", "path_hooks"],
    ["builtins", "__import__"],
)


def patches(tree):
    """(line, what) of each write to a TensorFlow module or class."""
    tensorflow = source.tensorflow_names(tree)
    return [(line, ".".join(names)) for line, names in _changes(tree) if names[0] in tensorflow]


def import_hooks(tree):
    """(line, what) of each write to what decides which module an import finds."""
    return [(line, ".".join(names)) for line, names in _changes(tree) if names[:2] in TABLES]


def _changes(tree):
    """(line, dotted name) of everything that is written to, or changed by a call."""
    for node in ast.walk(tree):
        names = []
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            names = _written(node)
        if isinstance(node, ast.Call):
            names = _changed_by(node)
        if names:
            yield node.lineno, names


def _written(node):
    """The dotted name behind ``a.b = ``, ``a.b[c] = `` and ``vars(a)[c] = ``."""
    if isinstance(node, ast.Subscript):
        node = node.value
        if isinstance(node, ast.Call) and source.chain(node.func) == ["vars"] and node.args:
            node = node.args[0]
    return source.chain(node)


def _changed_by(call):
    """The dotted name that a call changes: setattr(a, ...), sys.modules.update(...)."""
    function = source.chain(call.func)
    if function[-1:] and function[-1] in CHANGERS + ("object",) and call.args:
        if function[-1] in CHANGERS or function[:-1][-1:] == ["patch"]:
            return source.chain(call.args[0])
    if function[:2] in TABLES and function[2:] in (
        ["update"],
        ["pop"],
        ["setdefault"],
        ["insert"],
        ["append"],
        ["clear"],
    ):
        return function[:2]
    return []


@pytest.mark.parametrize(
    "code",
    [
        "import tensorflow as tf\ntf.Session = Session",
        "import tensorflow as tf\ntf.distribute.TPUStrategy.run_v2 = run",
        "import tensorflow as tf\nsetattr(tf, 'Session', Session)",
        "import tensorflow as tf\ndel tf.contrib",
        "import tensorflow as tf\ndelattr(tf, 'contrib')",
        "from tensorflow.python.distribute import values\nvalues.PerReplica = P",
        "import tensorflow as tf\nlib = tf.distribute\nlib.x = 1",
        "import tensorflow as tf\ntf.__dict__['x'] = 1",
        "import tensorflow as tf\nvars(tf)['x'] = 1",
        "import tensorflow as tf\nfrom unittest import mock\nmock.patch.object(tf, 'x', 1)",
        "import tensorflow as tf\nfor tf.x in y: pass",
    ],
)
def test_rule_sees(code):
    assert patches(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        "import sys\nsys.modules['tensorflow'] = x",
        "import sys\nsys.modules.update(x)",
        "import sys\ndel sys.modules['tensorflow']",
        "import sys\nsys.meta_path.insert(0, x)",
        "import builtins\nbuiltins.__import__ = x",
    ],
)
def test_rule_sees_import_hooks(code):
    assert import_hooks(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        "import tensorflow as tf\nx = tf.Variable(1)\nx.name = 'y'",
        "strategy.extended.steps_per_run = 2",
        "import sys\nold = sys.modules.get('tensorflow')",
        "import sys\nmodule = sys.modules[__name__]",
        "setattr(self, name, value)",
        "import tensorflow as tf\ntable[tf.float32] = 1",
    ],
)
def test_rule_lets_pass(code):
    tree = ast.parse(code)
    assert not patches(tree) and not import_hooks(tree)


def written_objects(tree):
    """(line, owner, attribute) of each class or private attribute given to another object."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            private = node.attr == "__class__" or (
                node.attr.startswith("_") and not node.attr.startswith("__")
            )
            owner = source.chain(node.value)[:1]
            if (
                private
                and owner not in (["self"], ["cls"])
                or (private and isinstance(node.value, ast.Attribute))
            ):
                yield node.lineno, (owner or ["?"])[0], node.attr


@pytest.mark.parametrize(
    "code", ["x.__class__ = Y", "variable._values = ()", "self.graph._trace = t", "f(x).a._b = 1"]
)
def test_rule_sees_objects(code):
    assert list(written_objects(ast.parse(code)))


@pytest.mark.parametrize("code", ["self._x = 1", "graph.inputs = []", "cls._y = 2", "_x = 1"])
def test_rule_lets_ones_own_pass(code):
    assert not list(written_objects(ast.parse(code)))


def objects():
    """{(file, attribute): ["path:line", ...]} of the whole package, without `legacy`."""
    found = {}
    for path in outside_legacy():
        short = path[len("tpudist/") :]
        for line, owner, attribute in written_objects(source.tree(path)):
            if "%s:%s" % (short, owner) not in BUILDERS:
                found.setdefault((short, attribute), []).append("%s:%d" % (path, line))
    return found


def test_every_object_that_is_changed_stands_in_the_list():
    source.hold(
        ["%s sets %s" % (where, key[1]) for key, where in objects().items() if key not in OBJECTS]
    )


def test_nothing_stands_in_the_list_for_nothing():
    assert sorted(set(OBJECTS) - set(objects())) == []


def outside_legacy():
    return [path for path in source.package() if not path.startswith("tpudist/legacy/")]


#: Who may give a module of TensorFlow a name that it once had, and why.
MAY_NAME = {
    "tpudist/tfcompat/estimators.py": "tensorflow-estimator asks for the name under which "
    "it exports its API, which is of nobody else"
}


def test_nothing_outside_legacy_patches():
    source.hold(
        source.offences(patches, [path for path in outside_legacy() if path not in MAY_NAME])
    )


@pytest.mark.parametrize("path", sorted(MAY_NAME))
def test_names_that_are_given_are_needed(path):
    assert source.offences(patches, [path]), "no longer patches: strike it off the list"


def test_nothing_outside_legacy_and_the_drop_ins_hooks_imports():
    source.hold(
        source.offences(import_hooks, [path for path in outside_legacy() if path not in MAY_IMPORT])
    )


@pytest.mark.parametrize("path", sorted(MAY_IMPORT))
def test_exceptions_are_needed(path):
    assert source.offences(import_hooks, [path]), "no longer hooks: strike it off the list"


def test_legacy_is_where_it_happens():
    assert source.offences(import_hooks, source.files("tpudist/legacy")), "the rule went blind"
