"""Costs, and live arrays at the peak, grouped by the user's lines."""

import pytest

from tests.tools.compile import records
from tpudist.tools.compile.pages import by_line, html_report, terminal


def test_lines_have_layers_of_instructions_of_ops():
    locations = {"call/PartitionedCall/a/conv/Conv2D": "train.py:5", "b/conv/Relu": "train.py:5"}
    grad = "PartitionedCall/gradient_tape/a/conv/Conv2D/Conv2DBackpropFilter"
    costs = [
        ["call/PartitionedCall/a/conv/Conv2D", "fusion.1", 1, 40.0, 9e9, 1.0, 0],
        ["call/PartitionedCall/a/conv/Conv2D", "fusion.2", 1, 5.0, 9e9, 1.0, 0],
        ["call/PartitionedCall/a/conv/Mul", "fusion.2", 1, 5.0, 9e9, 1.0, 0],
        [grad, "fusion.1", 2, 25.0, 1.0, 9e9, 0],
        ["b/conv/Relu", "fusion.3", 3, 15.0, 1.0, 1.0, 0],
        ["", "all-reduce.1", 4, 10.0, 0.0, 0.0, 7],
    ]
    locations["call/PartitionedCall/a/conv/Mul"] = "train.py:5"
    locations[grad] = "train.py:6"
    found = records.summarized(records.answer(costs=costs), records.a_program(locations=locations))
    first, second, third = by_line.costs(found)
    assert (first.label, first.share, first.ops) == ("train.py:5", pytest.approx(0.65), 3)
    assert [each.label for each in first.below] == ["a/conv", "b/conv"]
    alone, fused = first.below[0].below
    assert (alone.label, alone.instruction) == ("a/conv/Conv2D", "fusion.1")
    assert (fused.label, fused.ops, fused.share) == ("fusion.2", 2, pytest.approx(0.1))
    assert [each.label for each in fused.below] == ["a/conv/Conv2D", "a/conv/Mul"]
    assert [(each.label, each.below[0].bound) for each in second.below] == [("a/conv", "memory")]
    assert third.label == by_line.NO_LINE and third.below[0].below[0].bound == "network"
    assert first.below[0].below[0].bound == "compute"
    text = terminal.text(found)
    assert "hottest    65 %  train.py:5  3 ops" in text and "50 %  a/conv  2 ops" in text
    shown = html_report.page(found)
    assert shown.count("<details>") == 10
    assert "fusion.2" in shown and "fusion.3" in shown


def test_live_arrays_at_the_peak_are_grouped_by_line():
    found = records.a_report()
    assert [(line, size) for line, size, _ in by_line.peak_memory(found)] == [
        ("model.py:3", 4096),
        ("train.py:5", 4096),
    ]
    assert [each.op_name for each in found.alive] == ["weight", "add"]
    text = terminal.text(found)
    assert "at peak   4.00 KiB   model.py:3  float32[8,128] weight" in text
    assert "variable weight  model.py:3" in text
    assert "12.0 KiB held at most" in html_report.page(found)
