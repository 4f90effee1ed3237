"""Every member of a surface has a case, and the signature of its page."""

import importlib
import inspect
import os
import pkgutil

import pytest
import tensorflow as tf
from packaging.version import Version

from tests import conformance
from tests.conformance import modes
from tests.conformance.modes import covers
from tests.helpers.signatures import shown


def all_cases():
    """Imports every module of cases; returns what they declare."""
    for found in pkgutil.iter_modules(conformance.__path__):
        if found.name.startswith("test_"):
            importlib.import_module("tests.conformance." + found.name)
    return modes.COVERED


def test_every_member_has_a_case(surface):
    assert sorted(all_cases()[surface.era]) == sorted(surface.members())


def test_a_case_names_its_member():
    """A declared member is used in the module that declares it."""
    for era, members in all_cases().items():
        for member, cases in members.items():
            found = [
                inspect.getsource(module)
                for module in modules()
                if any(hasattr(module, case) for case in cases)
            ]
            spellings = [
                "." + member + "(",
                "." + member + "\n",
                "." + member + " ",
                "." + member + ".",
            ]
            if member in ("run", "experimental_run_v2"):
                spellings += ["surface.run(", "surface.results("]
            if member == "__init__":
                spellings = ["surface.strategy("]
            assert any(spelling in text for text in found for spelling in spellings), (era, member)


def modules():
    """The modules of cases."""
    return [
        importlib.import_module("tests.conformance." + found.name)
        for found in pkgutil.iter_modules(conformance.__path__)
        if found.name.startswith("test_")
    ]


@covers("__init__")
def test_signatures_are_those_of_the_page(surface):
    for name, row in surface.members().items():
        member = inspect.getattr_static(surface.strategy_class, name)
        if row.kind == "property":
            assert isinstance(member, property), name
            continue
        assert shown(member) == row.signature, name


@pytest.mark.skipif(
    "TPUDIST_EXPECT_TF" not in os.environ, reason="TPUDIST_EXPECT_TF does not say which TensorFlow"
)
def test_the_expected_tensorflow_runs():
    wanted = os.environ["TPUDIST_EXPECT_TF"]
    print("tests/conformance runs TensorFlow %s, expected %s" % (tf.__version__, wanted))
    if wanted == "newest":
        assert Version(tf.__version__) >= Version("2.21")
    else:
        assert ".".join(tf.__version__.split(".")[:2]) == wanted
