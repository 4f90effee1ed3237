"""Writes which dtypes of 64 bits the TPU compiler does not take: into ``tpu_ops.json``.

    python -m compat.make.tpu_dtypes

TensorFlow has kernels of them for TPUs (:mod:`compat.make.tpu_ops`), and libtpu, the TPU compiler,
makes pairs of 32 bits of them for most ops only. A minimal program of each type of op is made, if
one can be guessed from the op's definition, and compiled for the generations of TPUs in `SLICES`;
of an op that cannot be tried nothing is told.
"""

import collections
import itertools
import json

from compat.make.tpu_ops import FILE

SLICES = ("v2:2x2", "v3:2x2", "v4:2x2x1", "v5e:1x1", "v6e:1x1")

#: What an input of an unknown type is tried with, the first that the op takes.
_DTYPES = ("float32", "int32", "bool", "complex64", "int64", "uint8", "uint32")
_SHAPES = ((2, 2), (1, 4, 4, 2), (2,), (), (1, 4, 4, 4, 2), (1, 2, 2))
_INTEGERS = ([2, 2], 0, [0], 1, [1, 1], [[0, 0], [0, 0]], [1, 4, 4, 2], [2], [0, 1], [1])
_ATTRIBUTES = {"int": 1, "float": 0.5, "bool": False, "shape": [2, 2], "list(int)": [1, 1, 1, 1]}
_MOST_TRIES, _MOST_LOWERED = 900, 6

#: The dtypes of 64 bits.
_WIDE = ("float64", "int64", "uint64", "complex64")

#: Types of ops that end the process when they are tried with wrong shapes.
_CRASHES = ("DepthwiseConv2dNativeBackpropInput",)


def main():
    """Writes them into the file."""
    with open(FILE, encoding="utf-8") as file:
        values = json.load(file)
    names = sorted({each.partition(".")[0] for each in sum(values["dtypes"].values(), [])})
    probes = {name: found for name in names for found in [_probe(name)] if found}
    verdicts = [_verdicts(sorted(probes), probes, slice_) for slice_ in SLICES]
    compiled = {name for name in probes if all(each.get(name) for each in verdicts)}
    wide = _wide_programs({name: probes[name] for name in compiled})
    for slice_ in SLICES:  # those that all refuse; few are left behind the first
        verdict = _verdicts(sorted(wide), wide, slice_)
        wide = {name: wide[name] for name in wide if verdict.get(name) is False}
    values["refused_dtypes"] = _by_op(wide)
    with open(FILE, "w", encoding="utf-8") as file:
        file.write(json.dumps(values, indent=0) + "\n")


def _probe(name):
    """Returns (type of op, {argument: value}) of a program that XLA lowers, None if none is found.

    A value is a list or a number, or `_Input`; of an attribute it is what the op takes.
    """
    import tensorflow as tf
    from tensorflow.python.framework import op_def_registry

    definition = op_def_registry.get(name)
    if definition is None or not hasattr(tf.raw_ops, name) or name in _CRASHES:
        return None
    attributes = _attributes(definition)
    if attributes is None:
        return None
    lowered = 0
    for arguments in itertools.islice(_arguments(definition, attributes), _MOST_TRIES):
        try:
            with tf.Graph().as_default():
                _call(name, arguments, tf.constant(1.0))
        except Exception:  # of whatever kind: it is no program  # noqa: BLE001
            continue
        if _refusal(name, arguments) is None:
            return name, arguments
        lowered += 1
        if lowered == _MOST_LOWERED:
            return None
    return None


class _Input(collections.namedtuple("_Input", "dtype shape")):
    """A tensor that is computed from the program's argument."""


def _attributes(definition):
    """Returns {attribute: value} of an op, None if one cannot be guessed."""
    import tensorflow as tf

    values = {}
    numbers = {each.number_attr for each in definition.input_arg}
    for attribute in definition.attr:
        name, allowed = attribute.name, attribute.allowed_values.list
        if attribute.HasField("default_value") or name in numbers:
            continue
        if attribute.type == "type":
            choices = [tf.as_dtype(each).as_datatype_enum for each in _DTYPES]
            fitting = [each for each in choices if not allowed.type or each in allowed.type]
            value = tf.as_dtype(fitting[0]) if fitting else None
        elif attribute.type == "list(type)":
            value = [tf.float32, tf.float32]
        elif attribute.type == "string":
            value = allowed.s[0].decode() if allowed.s else None
        else:
            value = _ATTRIBUTES.get(attribute.type)
        if value is None:
            return None
        values[name] = value
    return values


def _arguments(definition, attributes):
    """Yields {argument: value} that an op may take: tensors of one shape, and small integers."""
    import tensorflow as tf

    defaults = {
        each.name: tf.as_dtype(each.default_value.type)
        for each in definition.attr
        if each.type == "type" and each.HasField("default_value")
    }
    dtypes = {}
    for each in definition.input_arg:
        given = attributes.get(each.type_attr, defaults.get(each.type_attr))
        dtypes[each.name] = tf.as_dtype(each.type) if each.type else given
        if each.type_list_attr or dtypes[each.name] in (None, tf.string, tf.resource, tf.variant):
            return
    integers = [name for name, dtype in dtypes.items() if dtype.is_integer]
    lists = {each.name for each in definition.input_arg if each.number_attr}
    kept = {name: value for name, value in attributes.items() if name not in _inferred(definition)}
    for shape in _SHAPES:
        for values in itertools.product(_INTEGERS, repeat=len(integers)):
            arguments = {name: _Input(dtype.name, shape) for name, dtype in dtypes.items()}
            arguments.update(zip(integers, values))
            arguments = {n: [v, v] if n in lists else v for n, v in arguments.items()}
            yield dict(kept, **arguments)


def _wide_programs(probes):
    """Returns {"op dtype": program} with tensors of 64 bits, of programs that XLA lowers.

    Args:
      probes: {type of op: its program}.
    """
    from tensorflow.python.framework import op_def_registry

    found = {}
    for name, (_, arguments) in sorted(probes.items()):
        definition = op_def_registry.get(name)
        given = [each for each in definition.input_arg if not _is_given(arguments[each.name])]
        types = {each.type_attr for each in [*definition.output_arg, *given]} - {""}
        for dtype in _WIDE if len(types) == 1 else ():
            program = name, _of_dtype(definition, arguments, *types, dtype)
            if program[1] != arguments and _refusal(*program) is None:
                found["%s %s" % (name, dtype)] = program
    return found


def _of_dtype(definition, arguments, attribute, dtype):
    """Returns the arguments with inputs, and an attribute, of another dtype."""
    import tensorflow as tf

    def of_dtype(value):
        if isinstance(value, list):
            return [of_dtype(each) for each in value]
        return value._replace(dtype=dtype) if isinstance(value, _Input) else value

    inputs = {each.name for each in definition.input_arg if each.type_attr == attribute}
    changed = {key: of_dtype(each) if key in inputs else each for key, each in arguments.items()}
    return dict(changed, **{attribute: tf.as_dtype(dtype)} if attribute in arguments else {})


def _by_op(names):
    """Returns {type of op: its dtypes} of "op dtype"s."""
    found = {}
    for name, dtype in map(str.split, sorted(names)):
        found.setdefault(name, []).append(dtype)
    return found


def _inferred(definition):
    """Returns the attributes that follow from the inputs, which raw_ops does not take."""
    return {each.type_attr for each in definition.input_arg if each.type_attr}


def _call(name, arguments, scalar):
    """Calls an op."""
    import tensorflow as tf

    def tensor(value):
        if isinstance(value, list) and value and isinstance(value[0], _Input):
            return [tensor(each) for each in value]
        if not isinstance(value, _Input):
            return value
        one = scalar + 0.5 if value.dtype.startswith("float") else scalar
        return tf.broadcast_to(tf.cast(one, value.dtype), value.shape)

    values = {key: tensor(value) for key, value in arguments.items()}
    return getattr(tf.raw_ops, name)(**values)


def _refusal(name, arguments):
    """Returns what XLA says where it cannot lower an op, None if it can."""
    import tensorflow as tf

    @tf.function(jit_compile=True, autograph=False)
    def function(scalar):
        return tf.nest.flatten(_call(name, arguments, scalar))

    try:
        function.experimental_get_compiler_ir(tf.TensorSpec([]))(stage="hlo_serialized")
    except Exception as error:  # of whatever kind  # noqa: BLE001
        return str(error)
    return None


def _is_given(value):
    """Whether an argument is a number, or numbers, and nothing that the program computes."""
    return not isinstance(value[0] if isinstance(value, list) and value else value, _Input)


def _verdicts(names, probes, slice_):
    """Returns {type of op: whether the TPU compiler takes it}; all are one program if it can be.

    Args:
      names: types of ops; one that TensorFlow does not lower in a replica is left out.
      probes: {type of op: its program}.
      slice_: name of a slice.
    """
    import tensorflow as tf

    import tpudist
    from tpudist.v2_2 import tensorflow as ours

    resolver = ours.distribute.cluster_resolver.TPUClusterResolver("virtual:1")
    ours.tpu.experimental.initialize_tpu_system(resolver)
    strategy = ours.distribute.experimental.TPUStrategy(resolver)

    def step(scalar):
        return [tf.nest.flatten(_call(*probes[name], scalar)) for name in names]

    taken = None
    try:
        arguments = [tf.TensorSpec([])]
        taken = tpudist.compile_step(strategy, step, arguments, topology=slice_, fast=True).ok
    except tpudist.errors.CompileError as error:
        print(slice_, len(names), names[:3], error)
    if taken or len(names) < 2:
        return {} if taken is None else dict.fromkeys(names, taken)
    middle = len(names) // 2
    halves = [_verdicts(half, probes, slice_) for half in (names[:middle], names[middle:])]
    return {**halves[0], **halves[1]}


if __name__ == "__main__":
    main()
