"""Programs, answers and reports written by hand."""

from tests.tools.compile.hlo import modules
from tpudist.surfaces import slices
from tpudist.tools.compile import program
from tpudist.tools.compile.compiler import libtpu, report_builder
from tpudist.tools.compile.hlo import messages


def a_program(**changes):
    """A `program.Program` of one addition, whose HLO no compiler reads."""
    module = messages.Module()
    modules.computation(
        module,
        1,
        ("parameter", [], (8, 128), {}),
        ("add", [0, 0], (8, 128), {"metadata": {"op_name": "StatefulPartitionedCall/add"}}),
    )
    made = program.Program(
        hlo=module.SerializeToString(),
        replicas=8,
        partitions=1,
        parameters=(
            program.Parameter("weight", "variable", "float32", (8, 128), "model.py:3"),
            program.Parameter("images", "argument", "bfloat16", (16, 128)),
        ),
        updated=(0,),
        outputs=(program.Output("loss", "float32", ()),),
        collectives=(
            program.Collective("all-reduce", "float32", (8, 128), "train.py:7"),
            program.Collective("all-reduce", "float32", (4,), "train.py:8"),
        ),
        shardings=(),
        locations={"StatefulPartitionedCall/add": "train.py:5"},
        warnings=(),
        tensorflow="2.21.0",
    )
    return made._replace(**changes)


def answer(**changes):
    """Returns what ``answers.digest`` returns for a program that compiles."""
    return dict(
        {
            "ok": True,
            "code": None,
            "message": None,
            "kind": "TPU v5 lite",
            "hbm": 16 << 30,
            "pjrt": "0.117",
            "seconds": 2.0,
            "cpu_seconds": 3.0,
            "peak_bytes": 1 << 28,
            "memory": {
                "arguments": 8192,
                "outputs": 5120,
                "aliased": 4096,
                "temporary": 1024,
                "code": 2048,
                "peak": 0,
            },
            "parameters": {
                "0": ["float32", [8, 128], 4096, 4096],
                "1": ["bfloat16", [16, 128], 4096, 4096],
            },
            "flops": 1e6,
            "bytes_accessed": 1e5,
            "collectives": [["all-reduce", 1, 4112]],
            "loops": [],
            "again": [0, 0],
            "costs": [
                ["StatefulPartitionedCall/add", "fusion.1", 1, 60.0, 6e5, 1e3, 0],
                ["block/mul", "fusion.1", 1, 40.0, 4e5, 1e8, 0],
            ],
            "held": [8192, 12288, 9216],
            "alive": [
                [4096, "", "float32[8,128]", 0],
                [4096, "StatefulPartitionedCall/add", "float32[8,128]", None],
            ],
        },
        **changes,
    )


def failed(code="RESOURCE_EXHAUSTED", message="E1000: out of memory"):
    """Returns what ``answers.digest`` returns for a program that does not compile."""
    found = dict.fromkeys(("kind", "hbm", "pjrt", "memory", "seconds", "cpu_seconds", "peak_bytes"))
    return dict(found, ok=False, code=code, message=message)


def a_report(**changes):
    """A `report.Report` of :func:`a_program`."""
    return summarized(answer())._replace(**changes)


def summarized(digest, lowered=None, topology="v5e:2x4", fast=False):
    """Builds the `report.Report` of an answer.

    Args:
      digest: what :func:`answer` or :func:`failed` returned.
      lowered: a `program.Program`; :func:`a_program` if None.
      topology: a slice's name.
      fast: as for ``compile_program``.
    """
    return report_builder.build(
        lowered or a_program(),
        slices.find(topology),
        fast,
        libtpu.Libtpu("/libtpu.so", "0.0.52"),
        digest,
        False,
    )
