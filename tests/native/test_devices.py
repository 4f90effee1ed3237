"""The real device that computes for a virtual TPU."""

import pytest

from tpudist.errors import ArgumentError
from tpudist.system import cluster
from tpudist.v2_2.strategy import TPUStrategy


def test_cpu_computes_unless_asked_otherwise(monkeypatch):
    monkeypatch.delenv("TPUDIST_DEVICE", raising=False)
    strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:2"))
    assert strategy.extended.real_device.endswith("device:CPU:0")


def test_asked_device_computes(monkeypatch):
    monkeypatch.setenv("TPUDIST_DEVICE", "cpu:0")
    strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:2"))
    assert strategy.extended.real_device.endswith("device:CPU:0")


def test_missing_device_is_named(monkeypatch):
    monkeypatch.setenv("TPUDIST_DEVICE", "GPU:7")
    with pytest.raises(ArgumentError, match="GPU:7.*CPU:0"):
        TPUStrategy(cluster.TPUClusterResolver("virtual:2"))
