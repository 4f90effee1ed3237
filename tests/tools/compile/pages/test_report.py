"""The report: its fields, its JSON form, its text, and its HTML page."""

import html.parser
import json
import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import ROOT
from tests.tools.compile import records
from tpudist.tools.compile import program, report
from tpudist.tools.compile.compiler import libtpu
from tpudist.tools.compile.pages import html_report, terminal, units

FAILURES = [
    records.failed(),
    records.failed("INVALID_ARGUMENT", "no c128"),
    records.failed(libtpu.CRASHED, "by signal 6"),
    records.failed(libtpu.TIMED_OUT, "within 5 s"),
]
REPORTS = [records.a_report()] + [records.summarized(each) for each in FAILURES]


@pytest.mark.parametrize("made", REPORTS)
def test_json_round_trip(made):
    text = json.dumps(made.to_json(), allow_nan=False)
    assert report.from_json(json.loads(text)) == made


def test_the_json_form_has_not_changed():
    """Fields may be added to this list; one that goes away makes a new schema."""
    made = records.a_report().to_json()
    assert made["schema"] == 3
    fields = "ok failure target memory arguments cost requested optimized splits hottest warnings"
    assert set((fields + " versions effort").split()) <= set(made)
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
        "unpadded": 4096,
        "location": "model.py:3",
    }
    assert made["held"] == [8192, 12288, 9216]
    assert made["alive"][1] == {
        "bytes": 4096,
        "shape": "float32[8,128]",
        "op_name": "add",
        "location": "train.py:5",
    }
    assert made["cost"] == {"flops": 1e6, "bytes_accessed": 1e5, "loops": []}
    assert made["requested"] == [
        {"kind": "all-reduce", "count": 2, "bytes": 4112, "locations": ["train.py:7", "train.py:8"]}
    ]
    assert made["optimized"] == [{"kind": "all-reduce", "count": 1, "bytes": 4112, "locations": []}]
    assert made["hottest"][1] == {
        "location": "",
        "layer": "block",
        "instruction": "fusion.1",
        "op_name": "block/mul",
        "cycles": 40.0,
        "share": 0.4,
        "times": 1,
        "flops": 4e5,
        "bytes": 1e8,
        "bound": "memory",
    }
    assert set(made["versions"]) == {"tpudist", "tensorflow", "libtpu", "pjrt"}
    assert set(made["effort"]) == {"seconds", "cpu_seconds", "peak_bytes", "cached"}


def test_every_field_is_documented():
    path = os.path.join(ROOT, "compat", "COMPILE.md")
    with open(path, encoding="utf-8") as file:
        told = file.read()
    assert "Schema %d." % report.SCHEMA in told
    records_of = [value for value in vars(report).values() if hasattr(value, "_fields")]
    fields = {field for record in records_of for field in record._fields}
    assert len(records_of) > 10
    assert {field for field in fields if "`%s`" % field not in told} == set()


def test_fields_of_a_newer_release_are_ignored():
    made = records.a_report()
    newer = json.loads(json.dumps(made.to_json()))
    newer["new"] = newer["target"]["new"] = newer["arguments"][0]["new"] = 1
    assert report.from_json(newer) == made


@pytest.mark.parametrize("schema", [None, 0, 2, 4])
def test_another_schema_is_refused(schema):
    with pytest.raises(ValueError, match="schema"):
        report.from_json(dict(records.a_report().to_json(), schema=schema))


@given(*[st.integers(0, 2**40)] * 5)
def test_total_memory(arguments, outputs, aliased, temporary, code):
    made = report.Memory(arguments, outputs, aliased, temporary, code, 0)
    assert made.total == arguments + (outputs - aliased) + temporary + code


@pytest.mark.parametrize(
    "answer, kind",
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


def test_missing_memory_is_reported():
    words = "total memory required (18.26G) exceeds available HBM (15.75G). HLO module: step."
    found = records.summarized(records.failed(message=words))
    assert found.failure.missing == pytest.approx(2.51 * 2**30)
    assert "missing   2.51 GiB of HBM a device" in terminal.text(found)
    assert records.summarized(records.failed()).failure.missing is None


def test_a_split_argument_is_smaller_even_if_the_program_does_not_compile():
    split = program.Sharding(1, "images", "split 2x1", (16, 128), (8, 128), "train.py:3")
    found = records.summarized(
        records.failed(), records.a_program(partitions=2, replicas=4, shardings=(split,))
    )
    assert {each.name: each.bytes for each in found.arguments} == {"weight": 4096, "images": 2048}
    assert "split 2x1" in terminal.text(found) and "train.py:3" in terminal.text(found)


@pytest.mark.parametrize(
    "topology, fused", [("v3-32", False), ("v4-16", True), ("v5p-16", True), ("v5e:2x4", False)]
)
def test_two_cores_as_one_device_have_a_note(topology, fused):
    found = records.summarized(records.answer(), topology=topology)
    assert any("megacore" in each for each in found.warnings) == fused


@pytest.mark.parametrize("topology, limit", [("v5e:2x4", 100), ("v4:2x2x1", 100)])
def test_the_smaller_limit_of_memory_counts(topology, limit):
    found = records.summarized(records.answer(hbm=limit), topology=topology)
    assert found.target.hbm == limit
    of_table = records.summarized(records.answer(hbm=None), topology=topology).target.hbm
    assert of_table > 2**33
    assert (
        records.summarized(records.answer(hbm=2 * of_table), topology=topology).target.hbm
        == of_table
    )


def test_a_loop_of_unknown_trips_has_a_note():
    loops = [["PartitionedCall/while", 1000, 1], ["while", None, 3]]
    found = records.summarized(records.answer(loops=loops, again=[9e6, 1e3]))
    assert (found.cost.flops, found.cost.bytes_accessed) == (1e7, 101000.0)
    assert any("how often this loop runs" in each for each in found.warnings)
    assert "1000, ? rounds" in terminal.text(found)
    assert found.compared()["rounds of loops"] == [1000, None]
    assert "rounds of loops" not in records.a_report().compared()


def test_unknown_costs_are_shown_as_unknown():
    made = records.summarized(records.answer(flops=None, bytes_accessed=None))
    assert terminal.text(made).count("unknown") == 2
    assert "unknown" in html_report.page(made)


@pytest.mark.parametrize(
    "count, text",
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (16909332480, "15.7 GiB"),
        (1 << 60, "1048576.0 TiB"),
    ],
)
def test_size(count, text):
    assert units.size(count) == text


def test_the_text_of_a_report():
    text = terminal.text(records.a_report())
    lines = text.splitlines()
    assert lines[0] == "compiles: v5e:2x4 (TPU v5 lite), 8 replicas"
    assert "HBM       12.0 KiB of 15.7 GiB a device" in text
    assert "asked for 2 all-reduce, 4.02 KiB a device  train.py:7, train.py:8" in lines
    assert "compiled  1 all-reduce, 4.02 KiB a device" in lines
    assert "1.00 MFLOP" in text
    assert "hottest    60 %  train.py:5  add" in lines
    assert "libtpu 0.0.52" in lines[-1]
    assert not any(line.endswith(" ") for line in lines)


@pytest.mark.parametrize("temporary, filled", [(0, 1), (8 << 30, 15), (1 << 40, 30)])
def test_the_memory_bar(temporary, filled):
    memory = dict(records.answer()["memory"], temporary=temporary)
    text = terminal.text(records.summarized(records.answer(memory=memory)))
    assert "[%s]" % ("#" * filled).ljust(30, ".") in text


@pytest.mark.parametrize(
    "answer, end",
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
    assert "--fast: little optimized" in html_report.page(fast)
    assert "--fast" not in terminal.text(records.a_report())


class Page(html.parser.HTMLParser):
    """The tags and the text of a page, and the resources it would fetch."""

    VOID = ("meta", "rect")

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.fetched, self.data = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.fetched += [value for name, value in attributes if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        if tag != "rect":
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.data += data


@pytest.mark.parametrize("made", REPORTS)
def test_the_page_is_complete_and_fetches_nothing(made):
    found = Page(html_report.page(made))
    assert found.open == [] and found.fetched == []
    assert found.seen.count("svg") == 2 * made.ok
    assert found.seen.count("details") == (6 if made.ok else 0)
    assert "weight" in found.data and terminal.verdict(made) in found.data


@given(st.text(max_size=30).map(lambda text: "<b>&\"'" + text))
def test_the_page_escapes_everything(name):
    given_ = records.a_program(
        parameters=(program.Parameter(name, "variable", "float32", (8, 128)),),
        locations={"StatefulPartitionedCall/add": name},
        warnings=(name,),
        tensorflow=name,
        collectives=(program.Collective("all-reduce", "float32", (8, 128), name),),
        shardings=(program.Sharding(None, name, name, (8,), (4,), name),),
    )
    answer = records.answer(kind=name, parameters={})
    for made in (
        records.summarized(answer, given_),
        records.summarized(dict(records.failed(), message=name), given_),
    ):
        assert "b" not in Page(html_report.page(made)).seen


def test_the_memory_bar_stays_inside_the_picture():
    for code in (0, 2048, 1 << 40):
        memory = dict(records.answer()["memory"], code=code)
        text = html_report.page(records.summarized(records.answer(memory=memory)))
        rects = re.findall(r'<rect x="([\d.]+)" y="0" width="([\d.]+)" height="30"', text)
        assert len(rects) == 5
        assert all(float(left) + float(width) <= 800.1 for left, width in rects)
