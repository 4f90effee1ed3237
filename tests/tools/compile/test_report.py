"""The report: its fields, its JSON form, and its text."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import ROOT
from tests.tools.compile import records
from tpudist.tools.compile import report, terminal
from tpudist.tools.compile.compiler import libtpu

FAILURES = [
    records.failed(),
    records.failed("INVALID_ARGUMENT", "no c128"),
    records.failed(libtpu.CRASHED, "by signal 6"),
    records.failed(libtpu.TIMED_OUT, "within 5 s"),
]


def test_the_json_form_has_not_changed():
    """Fields may be added to this list; one that goes away makes a new schema."""
    made = records.a_report().to_json()
    assert made["schema"] == 5
    fields = "ok failure target memory arguments cost requested optimized hottest warnings"
    assert set((fields + " versions effort compared").split()) <= set(made)
    assert made["target"] == {
        "topology": "v5e:2x4",
        "chip": "TPU v5 lite",
        "devices": 8,
        "replicas": 8,
        "logical_devices": 1,
        "hbm": 16909336064,
        "optimized": True,
    }
    assert made["memory"] == {
        "arguments": 8192,
        "outputs": 5120,
        "aliased": 4096,
        "temporary": 1024,
        "code": 2048,
        "peak": 0,
        "total": 12288,
    }
    assert made["arguments"][0] == {
        "name": "weight",
        "kind": "variable",
        "dtype": "float32",
        "shape": [8, 128],
        "device_shape": [8, 128],
        "bytes": 4096,
        "location": "model.py:3",
    }
    assert made["cost"] == {"flops": 1e6, "bytes_accessed": 1e5, "loops": []}
    assert made["requested"] == [
        {"kind": "all-reduce", "count": 2, "bytes": 4112, "locations": ["train.py:7", "train.py:8"]}
    ]
    assert made["optimized"] == [{"kind": "all-reduce", "count": 1, "bytes": 4096, "locations": []}]
    assert made["hottest"][0] == {
        "location": "train.py:5",
        "instruction": "add.2",
        "op_name": "add",
        "cycles": 60,
        "share": 0.6,
        "layer": "",
    }
    assert made["hottest"][1]["location"] == ""
    assert set(made["versions"]) == {"tpudist", "tensorflow", "libtpu", "pjrt"}
    assert set(made["effort"]) == {"seconds", "peak_bytes"}


def test_every_field_is_documented():
    path = os.path.join(ROOT, "compat", "COMPILE.md")
    with open(path, encoding="utf-8") as file:
        told = file.read()
    assert "Schema %d." % report.SCHEMA in told
    records_of = [value for value in vars(report).values() if hasattr(value, "_fields")]
    of_programs = (report.Program, report.Collective)
    fields = {f for each in records_of if each not in of_programs for f in each._fields}
    assert len(records_of) > 8
    assert {field for field in fields if "`%s`" % field not in told} == set()


@given(*[st.integers(0, 2**40)] * 5)
def test_total_memory(arguments, outputs, aliased, temporary, code):
    made = report.Memory(arguments, outputs, aliased, temporary, code, 0)
    assert made.total == arguments + (outputs - aliased) + temporary + code


@pytest.mark.parametrize(
    ("answer", "kind"),
    list(
        zip(
            FAILURES + [records.failed("RESOURCE_EXHAUSTED", "Ran out of memory in space vmem")],
            ["out-of-memory", "refused", "crash", "timeout", "refused"],
        )
    ),
)
def test_kinds_of_failures(answer, kind):
    found = records.summarized(answer)
    assert (found.ok, found.failure.kind) == (False, kind)
    assert found.failure.message == answer["message"] and found.failure.instead
    assert found.failure.largest == (
        (report.Buffer(4096, "float32[8,128]", "add", "train.py:5"),)
        if (kind == "out-of-memory")
        else ()
    )
    assert [(each.name, each.bytes) for each in found.arguments] == [
        ("weight", 4096),
        ("images", 4096),
    ]
    assert answer["message"] in terminal.text(found)


@pytest.mark.parametrize(
    ("topology", "fused"), [("v3-32", False), ("v4-16", True), ("v5p-16", True), ("v5e:2x4", False)]
)
def test_two_cores_as_one_device_have_a_note(topology, fused):
    found = records.summarized(records.answer(), topology=topology)
    assert any("megacore" in each for each in found.warnings) == fused


def test_what_a_loop_does_counts_once_and_is_said():
    made = records.summarized(
        records.answer(optimized=records.a_loop()), records.a_program(locations={"while": "t.py:9"})
    )
    assert [(each.kind, each.count) for each in made.optimized] == [("all-reduce", 1)]
    assert (made.cost.loops, made.compared()["loops"]) == (("t.py:9",), 1)
    assert "all figures count one round of each loop: t.py:9\n" in terminal.text(made)
    assert "round" not in terminal.text(records.a_report())


def test_a_fused_instruction_is_that_of_its_product():
    made = records.summarized(
        records.answer(optimized=records.a_fusion()),
        records.a_program(locations={"block/MatMul": "train.py:6", "block/Relu": "train.py:7"}),
    )
    (found,) = made.hottest
    assert (found.op_name, found.location) == ("block/MatMul", "train.py:6")


def test_the_hottest_layers_have_lines():
    rows = [
        ("a/conv/Conv2D", 30),
        ("call/PartitionedCall/a/conv/Conv2D", 10),
        ("PartitionedCall/gradient_tape/a/conv/Conv2D/Conv2DBackpropFilter", 20),
        ("Adam/Adam/update_2/update_0/ResourceApplyAdam", 5),
        ("a/pool/Max;b/other", 20),
        ("", 15),
    ]
    compiled = records.optimized(
        *records.COMPILED[:2],
        *(("add", [0, 0], (8, 128), records.estimated(cycles, name)) for name, cycles in rows),
    )
    lines = dict.fromkeys([name.partition(";")[0] for name, _ in rows[:5]], "train.py:5")
    lines[rows[2][0]] = "train.py:6"
    found = records.summarized(
        records.answer(optimized=compiled), records.a_program(locations=lines)
    )
    text = terminal.text(found)
    assert "hottest    40 %  train.py:5  a/conv\n" in text
    assert "20 %  train.py:6  a/conv\n" in text
    assert "20 %  train.py:5  a/pool\n" in text
    assert "5 %  train.py:5  Adam\n" in text
    assert "15 %  (no line of the user's)  (the compiler's own)\n" in text


def test_unknown_costs_are_shown_as_unknown():
    made = records.summarized(records.answer(cost={"flops": float("nan")}))
    assert made.cost[:2] == (None, None) and terminal.text(made).count("unknown") == 2


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (16909332480, "15.7 GiB"),
        (1 << 60, "1048576.0 TiB"),
    ],
)
def test_size(count, text):
    assert terminal.size(count) == text


def test_the_text_of_a_report():
    text = terminal.text(records.a_report())
    lines = text.splitlines()
    assert lines[0] == "compiles: v5e:2x4 (TPU v5 lite), 8 replicas"
    assert "HBM       12.0 KiB of 15.7 GiB a device" in text
    assert "asked for 2 all-reduce, 4.02 KiB a device  train.py:7, train.py:8" in lines
    assert "compiled  1 all-reduce, 4.00 KiB a device" in lines
    assert "1.00 MFLOP" in text
    assert "hottest    60 %  train.py:5  add" in lines
    assert "libtpu 0.0.52" in lines[-1]
    assert not any(line.endswith(" ") for line in lines)


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        (records.answer(), "; 2.0 s, 256.0 MiB"),
        (records.failed(), "tpudist 0.1.0"),
        (dict(records.failed(), peak_bytes=1 << 20), "; 1.00 MiB"),
    ],
)
def test_the_effort_is_shown_if_it_is_known(answer, end):
    made = records.summarized(answer)
    made = made._replace(versions=made.versions._replace(tpudist="0.1.0"))
    assert terminal.versions(made).endswith(end)
    assert ("PJRT" in terminal.versions(made)) == made.ok


def test_a_fast_answer_is_labelled():
    fast = records.summarized(records.answer(), fast=True)
    assert "--fast: little optimized" in terminal.text(fast).splitlines()[0]
    assert "--fast" not in terminal.text(records.a_report())
