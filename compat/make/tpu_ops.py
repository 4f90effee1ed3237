"""Writes what TPUs take: ``tpudist/virtual/tpu_check/tpu_ops.json``.

    python -m compat.make.tpu_ops PYTHON [PYTHON ...]

The first Python has the newest tensorflow-tpu, whose registry of kernels is read: the types of ops
that it has for TPUs (``XLA_TPU_JIT``), the dtypes that each takes, and the inputs whose values XLA
needs when it compiles. No TPU and no libtpu is asked. The others have older releases of
TensorFlow, of any wheel: which ops their XLA did not have yet is noted. What
:mod:`compat.make.tpu_dtypes` has found is kept.
"""

import contextlib
import json
import os
import re
import subprocess
import sys

from tests import ROOT

FILE = os.path.join(ROOT, "tpudist", "virtual", "tpu_check", "tpu_ops.json")

#: Types of ops of whose kernels the registry of XLA says nothing.
LEFT_OUT = re.compile(
    # Ops of TPUs, and of other devices.
    r"TPU|Xla|Infeed|Outfeed|SparseCore|Minibatch|Embedding|Prelinearize|Coo|Csr"
    r"|^(CrossReplicaSum|AllToAll|Collective.*|Nccl.*|Send|Recv|SyncDevice|GlobalIterId)$"
    # Control flow that becomes functions before it is compiled, and what computes nothing.
    r"|^(Ref)?(Enter|Exit|LoopCond|Merge|NextIteration|Switch|Identity|Select)$|^For$|Call$"
    r"|^(Placeholder.*|GuaranteeConst|VarHandleOp|BatchFunction|Abort|_.*)$"
    # What the bridge to XLA rewrites (mark_ops_for_outside_compilation.cc).
    r"|^(Inplace|TensorArray|TensorList|Stack|BatchNormWithGlobal)"
    # Variables of TensorFlow 1, and sparse updates, which TPUStrategy makes dense.
    r"|^(Variable|VariableV2|Assign.*|CountUpTo|IsVariableInitialized|.*TemporaryVariable)$"
    r"|^(Scatter|Apply|SparseApply|Resource|Accum)|^StridedSliceAssign$"
    # Debugging, which a TPU drops or TensorFlow takes out, and what no program names.
    r"|^(Debug|Copy|CheckNumerics|CheckPinned|Quantized|Requant|Batch[A-Z]|DeepCopy|Experimental)"
)

#: Ops that builds for TPUs had before the others, as ResizeNearestNeighborGrad still: those of
#: tensorflow/core/tpu/kernels/xla, and what gives shapes that only the run knows.
OF_TPUS = frozenset(
    "DynamicPartition NonMaxSuppressionV3 ResizeNearestNeighborGrad Unique UniqueV2 Where".split()
)

#: Inputs that are registered as constants, and with other values compile all the same: tried by
#: ``jit_compile`` with TensorFlow 2.21, each with a value of the function's argument.
NOT_NEEDED = {
    "EmptyTensorList": ["element_shape"],
    "MatrixDiagV2": ["padding_value"],
    "MatrixDiagV3": ["padding_value"],
    "Slice": ["begin", "size"],
    "StridedSlice": ["begin", "end"],
    "StridedSliceGrad": ["begin", "end"],
    "TensorListFromTensor": ["element_shape"],
    "TopKV2": ["k"],
}

#: Where the C++ function is whose result `constants` reads: it returns a pointer to a
#: std::unordered_set.
_LIBRARY = "libtensorflow_cc.so.2"
_ARG_NAMES = (
    "_ZN10tensorflow13XlaOpRegistry32CompileTimeConstantInputArgNamesE"
    "RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
)


def main():
    """Writes the file."""
    if sys.argv[1:] == ["--registry"]:
        print("\n" + json.dumps(registry()))
        return
    newest, *older = [_registry_of(python) for python in sys.argv[1:]]
    taken = newest["tpu"]
    with open(FILE, encoding="utf-8") as file:
        kept = json.load(file)["refused_dtypes"]
    refused = [op for op in newest["ops"] if op not in taken and not LEFT_OUT.search(op)]
    values = {
        "tensorflow": newest["tensorflow"],
        "refused": refused,
        "later": {each["tensorflow"]: _missing(each, newest) for each in older},
        "dtypes": _dtypes(taken),
        "constants": _constants(newest["constants"]),
        "refused_dtypes": {op: kept[op] for op in sorted(set(kept) & set(taken))},
    }
    with open(FILE, "w", encoding="utf-8") as file:
        file.write(json.dumps(values, indent=0) + "\n")
    print({name: len(value) for name, value in values.items()})


def _registry_of(python):
    environment = dict(os.environ, TPU_LOAD_LIBRARY="0", TF_CPP_MIN_LOG_LEVEL="3")
    command = [python, os.path.abspath(__file__), "--registry"]
    environment["PYTHONPATH"] = ROOT
    printed = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout
    return json.loads(printed.splitlines()[-1])


def _missing(older, newest):
    """Returns the ops that a release computes on the CPU, and of which its XLA had no kernel."""
    names = sorted(set(newest["tpu"]) & set(older["cpu"]) - set(older["xla"]) - OF_TPUS)
    return [name for name in names if not LEFT_OUT.search(name)]


def _dtypes(kernels):
    """Returns {"dtype dtype": ["op.attribute", ...]} of the dtypes that kernels take."""
    found = {}
    for op, attributes in sorted(kernels.items()):
        for name, dtypes in sorted(attributes.items()):
            found.setdefault(" ".join(sorted(dtypes)), []).append("%s.%s" % (op, name))
    return dict(sorted(found.items()))


def _constants(registered):
    """Returns {op: names of the inputs whose values XLA needs}."""
    found = {op: sorted(set(each) - set(NOT_NEEDED.get(op, ()))) for op, each in registered.items()}
    return {op: names for op, names in sorted(found.items()) if names}


def registry():
    """Returns what the registries of kernels of the installed TensorFlow have."""
    import tensorflow as tf
    from tensorflow.python.framework import kernels

    # TensorFlow registers XLA's kernels when it first compiles, which a build for TPUs does for
    # no CPU.
    with contextlib.suppress(Exception):
        _compile()
    found = {}
    for kernel in kernels.get_all_registered_kernels().kernel:
        taken = found.setdefault(kernel.device_type, {}).setdefault(kernel.op, {})
        for each in kernel.constraint:
            names = [tf.as_dtype(dtype).name for dtype in each.allowed_values.list.type]
            taken[each.name] = sorted(set(taken.get(each.name, [])) | set(names))
    tpu = found.get("XLA_TPU_JIT", {})
    return {
        "tensorflow": tf.__version__,
        "ops": [name for name in dir(tf.raw_ops) if name[0] != "_"] if tpu else [],
        "cpu": sorted(found["CPU"]),
        "xla": sorted(tpu or found["XLA_CPU_JIT"]),
        "tpu": tpu,
        "constants": {op: names for op in tpu for names in [constants(op)] if names},
    }


def _compile():
    import tensorflow as tf

    if tf.__version__.startswith("1."):
        try:
            from tensorflow.python.compiler.xla import xla
        except ImportError:
            from tensorflow.contrib.compiler import xla
        with tf.Session() as session:
            session.run(xla.compile(lambda x: x + 1.0, [tf.constant(1.0)]))
    else:
        minor = int(tf.__version__.split(".")[1])
        name = "jit_compile" if minor > 4 else "experimental_compile"
        tf.function(lambda x: x + 1.0, **{name: True})(tf.constant(1.0))


def constants(op):
    """Returns the names of the inputs of a type of op whose values XLA needs when it compiles."""
    import ctypes

    import tensorflow as tf

    class String(ctypes.Structure):
        _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t), ("_", ctypes.c_char * 16)]

    library = ctypes.CDLL(os.path.join(os.path.dirname(tf.__file__), _LIBRARY))
    arg_names = library[_ARG_NAMES]
    arg_names.restype = ctypes.c_void_p
    at = arg_names(ctypes.byref(String(op.encode(), len(op))))
    node = (ctypes.c_size_t * 3).from_address(at)[2] if at else 0
    names = []
    while node:  # of the std::unordered_set: the next one's address, and a std::string
        string = String.from_address(node + ctypes.sizeof(ctypes.c_size_t))
        names.append(string.data[: string.size].decode())
        node = ctypes.c_size_t.from_address(node).value
    return names


if __name__ == "__main__":
    main()
