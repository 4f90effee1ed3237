"""Programs, answers and reports written by hand."""

import base64
import json

from tests.tools.compile.hlo import modules
from tpudist.surfaces import slices
from tpudist.tools.compile import report
from tpudist.tools.compile.compiler import libtpu, report_builder
from tpudist.tools.compile.hlo import messages


def a_program(**changes):
    """A `report.Program` of one addition, whose HLO no compiler reads."""
    module = messages.Module()
    modules.computation(
        module,
        1,
        ("parameter", [], (8, 128), {}),
        ("add", [0, 0], (8, 128), {"metadata": {"op_name": "StatefulPartitionedCall/add"}}),
    )
    made = report.Program(
        hlo=module.SerializeToString(),
        replicas=8,
        partitions=1,
        parameters=(
            report.Argument("weight", "variable", "float32", (8, 128), "model.py:3"),
            report.Argument("images", "argument", "bfloat16", (16, 128)),
        ),
        collectives=(
            report.Collective("all-reduce", "float32", (8, 128), "train.py:7"),
            report.Collective("all-reduce", "float32", (4,), "train.py:8"),
        ),
        locations={"StatefulPartitionedCall/add": "train.py:5"},
        tensorflow="2.21.0",
    )
    return made._replace(**changes)


def estimated(cycles, op_name):
    """The fields of an instruction with the compiler's estimate."""
    config = json.dumps({"window_config": {"estimated_cycles": str(cycles)}})
    return {"backend_config": config.encode(), "metadata": {"op_name": op_name}}


#: The instructions of a compiled program: (opcode, operands, shape, fields).
COMPILED = (
    ("parameter", [], (8, 128), {"parameter_number": 0}),
    ("parameter", [], (16, 128), {"parameter_number": 1}),
    ("add", [0, 0], (8, 128), estimated(60, "StatefulPartitionedCall/add")),
    ("multiply", [2, 2], (8, 128), estimated(40, "block/mul")),
    ("all-reduce", [3], (8, 128), {}),
)


def optimized(*instructions):
    """A compiled program as the worker returns it; the second parameter is bfloat16."""
    whole = messages.Program()
    made = modules.computation(whole.hlo_module, 1, *instructions)
    for instruction in made.instructions:
        if instruction.opcode == "parameter" and instruction.parameter_number == 1:
            instruction.shape.element_type = 16
    return base64.b64encode(whole.SerializeToString()).decode()


def a_loop():
    """A compiled program with a collective in the body of a loop."""
    whole = messages.Program()
    parameter = ("parameter", [], (8,), {})
    modules.computation(
        whole.hlo_module, 1, parameter, ("all-reduce", [0], (8,), estimated(7, "while/sum"))
    )
    modules.computation(whole.hlo_module, 2, parameter)
    loop = {"called_computation_ids": [1, 2], "metadata": {"op_name": "while"}}
    modules.computation(whole.hlo_module, 3, parameter, ("while", [0], (8,), loop))
    return base64.b64encode(whole.SerializeToString()).decode()


def a_fusion():
    """A compiled program of a product and what follows it, which are one instruction."""
    whole = messages.Program()
    modules.computation(
        whole.hlo_module,
        1,
        ("parameter", [], (8, 8), {}),
        ("dot", [0, 0], (8, 8), {"metadata": {"op_name": "block/MatMul"}}),
        ("maximum", [1, 1], (8, 8), {"metadata": {"op_name": "block/Relu"}}),
    )
    modules.computation(
        whole.hlo_module,
        2,
        ("parameter", [], (8, 8), {}),
        ("fusion", [0], (8, 8), dict(estimated(9, "block/Relu"), called_computation_ids=[1])),
    )
    return base64.b64encode(whole.SerializeToString()).decode()


def answer(**changes):
    """Returns the worker's answer of a program that compiles."""
    return dict(
        {
            "ok": True,
            "kind": "TPU v5 lite",
            "pjrt": "0.117",
            "seconds": 2.0,
            "peak_bytes": 1 << 28,
            "memory": {
                "arguments": 8192,
                "outputs": 5120,
                "aliased": 4096,
                "temporary": 1024,
                "code": 2048,
                "peak": 0,
            },
            "cost": {"flops": 1e6, "bytes accessed": 1e5},
            "optimized": optimized(*COMPILED),
        },
        **changes,
    )


def failed(code="RESOURCE_EXHAUSTED", message="E1000: out of memory"):
    """Returns the worker's answer of a program that does not compile."""
    return {"ok": False, "code": code, "message": message}


def a_report(**changes):
    """A `report.Report` of :func:`a_program`."""
    return summarized(answer())._replace(**changes)


def summarized(answered, lowered=None, topology="v5e:2x4", fast=False):
    """Builds the `report.Report` of an answer.

    Args:
      answered: what :func:`answer` or :func:`failed` returned.
      lowered: a `report.Program`; :func:`a_program` if None.
      topology: a slice's name.
      fast: as for ``compile_program``.
    """
    return report_builder.build(
        lowered or a_program(),
        slices.find(topology),
        fast,
        libtpu.Libtpu("/libtpu.so", "0.0.52"),
        answered,
    )
