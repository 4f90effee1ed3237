"""The report: what it is made of, its JSON, its text, and its page."""

import html.parser
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.compile import records
from tpudist.compile import estimate, page, process, program, report, terminal, units

FAILURES = [
    records.failed(),
    records.failed("INVALID_ARGUMENT", "no c128"),
    records.failed(process.CRASHED, "by signal 6"),
    records.failed(process.TIMED_OUT, "within 5 s"),
]
REPORTS = [records.a_report()] + [records.summarized(each) for each in FAILURES]


@pytest.mark.parametrize("made", REPORTS)
def test_json_round_trip(made):
    text = json.dumps(made.to_json(), allow_nan=False)
    assert report.from_json(json.loads(text)) == made


def test_the_form_of_json_is_what_it_was():
    """Fields may be added to this list; one that goes away makes a new schema."""
    made = records.a_report().to_json()
    assert made["schema"] == 1
    fields = {
        "ok",
        "failure",
        "target",
        "memory",
        "arguments",
        "cost",
        "requested",
        "optimized",
        "splits",
        "hottest",
        "warnings",
        "versions",
        "effort",
    }
    assert fields <= set(made)
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
    }
    assert made["arguments"][0] == {
        "name": "weight",
        "kind": "variable",
        "dtype": "float32",
        "shape": [8, 128],
        "device_shape": [8, 128],
        "bytes": 4096,
        "unpadded": 4096,
    }
    assert made["cost"] == {"flops": 1e6, "bytes_accessed": 1e5, "seconds": 1e-6, "loops": 0}
    assert made["requested"] == [
        {"kind": "all-reduce", "count": 2, "bytes": 4112, "locations": ["train.py:7", "train.py:8"]}
    ]
    assert made["optimized"] == [{"kind": "all-reduce", "count": 1, "bytes": 4112, "locations": []}]
    assert made["hottest"][0] == {
        "location": "train.py:5",
        "op_name": "add",
        "cycles": 60,
        "share": 0.6,
        "count": 2,
    }
    assert set(made["versions"]) == {"tpudist", "tensorflow", "libtpu", "pjrt"}
    assert set(made["effort"]) == {"seconds", "cpu_seconds", "peak_bytes", "cached"}


def test_fields_of_a_newer_release_are_left_out():
    made = records.a_report()
    newer = json.loads(json.dumps(made.to_json()))
    newer["new"] = newer["target"]["new"] = newer["arguments"][0]["new"] = 1
    assert report.from_json(newer) == made


@pytest.mark.parametrize("schema", [None, 0, 2])
def test_another_schema_is_refused(schema):
    with pytest.raises(ValueError, match="schema"):
        report.from_json(dict(records.a_report().to_json(), schema=schema))


@given(*[st.integers(0, 2**40)] * 5)
def test_total(arguments, outputs, aliased, temporary, code):
    made = report.Memory(arguments, outputs, aliased, temporary, code)
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
def test_failures(answer, kind):
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


def test_what_was_split_is_smaller_even_if_it_does_not_compile():
    split = program.Sharding(1, "images", "split 2x1", (16, 128), (8, 128), "train.py:3")
    found = records.summarized(
        records.failed(), records.a_program(partitions=2, replicas=4, shardings=(split,))
    )
    assert {each.name: each.bytes for each in found.arguments} == {"weight": 4096, "images": 2048}
    assert "split 2x1" in terminal.text(found) and "train.py:3" in terminal.text(found)


def test_one_line_of_code_is_one_hot_line():
    locations = {"a": "train.py:5", "b": "train.py:5"}
    found = records.summarized(
        records.kept(costs=[[50, "a", 1], [30, "c", 1], [20, "b", 3]]),
        records.a_program(locations=locations),
    )
    assert [(each.location, each.op_name, each.cycles, each.count) for each in found.hottest] == [
        ("train.py:5", "a", 70, 4),
        ("", "c", 30, 1),
    ]


@pytest.mark.parametrize(
    "topology, fused", [("v3-32", False), ("v4-16", True), ("v5p-16", True), ("v5e:2x4", False)]
)
def test_two_cores_that_are_one_device_are_told(topology, fused):
    found = records.summarized(records.kept(), topology=topology)
    assert any("megacore" in each for each in found.warnings) == fused


@pytest.mark.parametrize("topology, limit", [("v5e:2x4", 100), ("v4:2x2x1", 100)])
def test_the_smaller_limit_counts(topology, limit):
    found = records.summarized(records.kept(hbm=limit), topology=topology)
    assert found.target.hbm == limit
    of_table = records.summarized(records.kept(hbm=None), topology=topology).target.hbm
    assert of_table > 2**33
    assert (
        records.summarized(records.kept(hbm=2 * of_table), topology=topology).target.hbm == of_table
    )


@pytest.mark.parametrize(
    "optimal, flops, accessed, expected",
    [
        (2e-4, 1e9, 1e6, 2e-4),
        (0.0, 0.0, 0.0, 0.0),
        (3.5, 1e15, 1e12, 3.5),
        (-1.9997, 1e9, 1e6, 3e-4),
        (-80.92, 3e11, 5e10, 0.08),
        (-80.92, 3e12, 5e12, None),
        (-0.5, 1e15, 1e6, None),
        (-4.0, 1e9, 1e6, None),
        (-5000.0001, 1e9, 1e6, None),
        (None, 1e9, 1e6, None),
        (-1.5, None, 1e6, None),
        (-1.5, 1e6, None, None),
        (-900000.99999, 1e6, 1e6, None),
    ],
)
def test_time_is_told_where_it_is_known(optimal, flops, accessed, expected):
    found = estimate.seconds(optimal, flops, accessed, "v5e")
    if expected is None:
        assert found is None
    else:
        assert found == pytest.approx(expected, rel=1e-2, abs=1e-9)


def test_unknown_is_said():
    made = records.summarized(records.kept(flops=None, bytes_accessed=None, optimal_seconds=None))
    assert terminal.text(made).count("unknown") == 3
    assert "unknown" in page.html(made)


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
def test_sizes(count, text):
    assert units.size(count) == text


@pytest.mark.parametrize(
    "seconds, text",
    [(2e-4, "0.2 ms"), (0.08, "80 ms"), (0.25, "0.25 s"), (3e-6, "3 us"), (0, "0 us")],
)
def test_durations(seconds, text):
    assert units.duration(seconds) == text


def test_text():
    text = terminal.text(records.a_report())
    lines = text.splitlines()
    assert lines[0] == "compiles: v5e:2x4 (TPU v5 lite), 8 replicas"
    assert "HBM       12.0 KiB of 15.7 GiB a device" in text
    assert "asked for 2 all-reduce, 4.02 KiB a device  train.py:7, train.py:8" in lines
    assert "compiled  1 all-reduce, 4.02 KiB a device" in lines
    assert "1.00 MFLOP" in text and "without communication" in text
    assert "hottest    60 %  train.py:5  add" in lines
    assert "libtpu 0.0.52" in lines[-1]
    assert not any(line.endswith(" ") for line in lines)


@pytest.mark.parametrize("temporary, filled", [(0, 1), (8 << 30, 15), (1 << 40, 30)])
def test_the_bar(temporary, filled):
    memory = dict(records.kept()["memory"], temporary=temporary)
    text = terminal.text(records.summarized(records.kept(memory=memory)))
    assert "[%s]" % ("#" * filled).ljust(30, ".") in text


@pytest.mark.parametrize(
    "answer, end",
    [
        (records.kept(), "; 2.0 s, 256.0 MiB"),
        (records.failed(), "tpudist 0.1.0"),
        (dict(records.failed(), peak_bytes=1 << 20), "; 1.00 MiB"),
    ],
)
def test_what_it_took_is_told_where_it_is_known(answer, end):
    made = records.summarized(answer)
    made = made._replace(versions=made.versions._replace(tpudist="0.1.0"))
    assert terminal.versions(made).endswith(end)
    assert ("PJRT" in terminal.versions(made)) == made.ok


def test_a_fast_answer_is_labelled():
    fast = records.summarized(records.kept(), fast=True)
    assert "--fast: little optimized" in terminal.text(fast).splitlines()[0]
    assert "--fast: little optimized" in page.html(fast)
    assert "--fast" not in terminal.text(records.a_report())


class Terminal(io.StringIO):
    def __init__(self, isatty):
        super().__init__()
        self.isatty = lambda: isatty


def test_the_progress_line_is_for_terminals_and_goes_away():
    seen = Terminal(True)
    with pytest.raises(KeyboardInterrupt):
        with terminal.progress("compiling", seen) as show:
            show(1.5)
            assert seen.getvalue() == "\rcompiling  1 s "
            raise KeyboardInterrupt
    assert seen.getvalue().endswith(" \r") and "\n" not in seen.getvalue()
    unseen = Terminal(False)
    with terminal.progress("compiling", unseen) as show:
        assert show is None
    assert unseen.getvalue() == ""


class Page(html.parser.HTMLParser):
    """Tags of a page, its text, and what it would fetch."""

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
def test_the_page_is_whole_and_needs_nothing_beside_it(made):
    found = Page(page.html(made))
    assert found.open == [] and found.fetched == []
    assert found.seen.count("svg") == (2 if made.ok else 0)
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
    answer = records.kept(kind=name, parameters={})
    for made in (
        records.summarized(answer, given_),
        records.summarized(dict(records.failed(), message=name), given_),
    ):
        assert "b" not in Page(page.html(made)).seen


def test_the_memory_bar_stays_inside():
    for code in (0, 2048, 1 << 40):
        memory = dict(records.kept()["memory"], code=code)
        text = page.html(records.summarized(records.kept(memory=memory)))
        rects = re.findall(r'<rect x="([\d.]+)" y="0" width="([\d.]+)" height="30"', text)
        assert len(rects) == 5
        assert all(float(left) + float(width) <= 800.1 for left, width in rects)
