"""The page's members, with its signatures, on the class."""

import inspect

import pytest

from tests.contrib.harness import enter, strategy_of
from tests.helpers.signatures import shown, shown_function
from tpudist import surfaces
from tpudist.contrib import context, distribute, tpu
from tpudist.contrib.cluster_resolver import TPUClusterResolver

MEMBERS = surfaces.members("contrib")


@pytest.mark.parametrize(
    "name", [name for name, row in sorted(MEMBERS.items()) if row.kind in ("method", "init")]
)
def test_signatures(name):
    assert shown(getattr(distribute.TPUStrategy, name)) == MEMBERS[name].signature


@pytest.mark.parametrize(
    "name", [name for name, row in sorted(MEMBERS.items()) if row.kind == "property"]
)
def test_properties(name):
    with enter("graph"):
        distribution = strategy_of(2)
        with distribution.scope():
            assert getattr(distribution, name) is not None
    assert isinstance(inspect.getattr_static(distribute.TPUStrategy, name), property)


def test_multi_step_context():
    rows = {row.name: row for row in surfaces.rows_of("contrib")}
    found = inspect.signature(context.MultiStepContext.set_last_step_output)
    assert list(found.parameters) == ["self", "name", "output", "aggregation"]
    assert found.parameters["aggregation"].default is context.VariableAggregation.NONE
    assert shown(context.MultiStepContext.set_non_tensor_output) == (
        rows["MultiStepContext.set_non_tensor_output"].signature
    )
    assert shown(context.TowerContext.merge_call) == (rows["TowerContext.merge_call"].signature)


@pytest.mark.parametrize(
    "row",
    [
        row
        for row in surfaces.rows_of("contrib")
        if row.name.startswith("contrib.tpu.") and row.kind == "function"
    ],
    ids=lambda row: row.name,
)
def test_functions_of_contrib_tpu(row):
    found = getattr(tpu, row.name.rpartition(".")[2])
    assert shown_function(found) == row.signature


def test_classes():
    rows = {row.name: row for row in surfaces.rows_of("contrib")}
    assert shown(tpu.CrossShardOptimizer.__init__) == (
        rows["contrib.tpu.CrossShardOptimizer"].signature
    )
    assert shown(TPUClusterResolver.__init__) == (
        rows["contrib.cluster_resolver.TPUClusterResolver"].signature
    )


def test_variable_aggregation():
    names = context.VariableAggregation
    assert names.ONLY_FIRST_TOWER is names.ONLY_FIRST_REPLICA
    assert len({names.NONE, names.SUM, names.MEAN, names.ONLY_FIRST_TOWER}) == 4


@pytest.mark.parametrize("name", distribute.__all__)
def test_exports(name):
    assert getattr(distribute, name) is not None
    with pytest.raises(AttributeError, match="Unknown"):
        distribute.Unknown
