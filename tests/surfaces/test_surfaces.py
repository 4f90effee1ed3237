"""The table: whole, consistent, and true of the TensorFlow that is installed."""

import subprocess
import sys

import pytest

from tpudist import surfaces
from tpudist.dropin import load
from tpudist.errors import EraNameError
from tpudist.surfaces import leads

#: The members of each era's page with their signatures, written down a second
#: time: the promise that the table must keep.
PROMISE = {
    "contrib": {
        "__init__": "(tpu_cluster_resolver, steps_per_run, num_cores=None)",
        "between_graph": "",
        "is_single_tower": "",
        "num_hosts": "",
        "num_towers": "",
        "num_towers_per_host": "",
        "parameter_devices": "",
        "should_checkpoint": "",
        "should_init": "",
        "should_save_summary": "",
        "worker_device_index": "",
        "worker_devices": "",
        "batch_reduce": "(aggregation, value_destination_pairs)",
        "broadcast": "(tensor, destinations=None)",
        "call_for_each_tower": "(fn, *args, **kwargs)",
        "colocate_vars_with": "(colocate_with_variable)",
        "configure": "(session_config=None, cluster_spec=None, task_type=None, task_id=None)",
        "distribute_dataset": "(dataset_fn)",
        "finalize": "()",
        "get_host_cpu_device": "(host_id)",
        "group": "(value, name=None)",
        "initialize": "()",
        "map": "(map_over, fn, *args, **kwargs)",
        "non_slot_devices": "(var_list)",
        "read_var": "(tower_local_var)",
        "reduce": "(aggregation, value, destinations)",
        "run_steps_on_dataset": "(fn, iterator, iterations=1, initial_loop_values=None)",
        "scope": "()",
        "unwrap": "(value)",
        "update": "(var, fn, *args, **kwargs)",
        "update_non_slot": "(colocate_with, fn, *args, **kwargs)",
        "value_container": "(value)",
    },
    "v2_0": {
        "__init__": "(tpu_cluster_resolver=None, device_assignment=None)",
        "extended": "",
        "num_replicas_in_sync": "",
        "experimental_distribute_dataset": "(dataset)",
        "experimental_distribute_datasets_from_function": "(dataset_fn)",
        "experimental_local_results": "(value)",
        "experimental_make_numpy_dataset": "(numpy_input)",
        "experimental_run_v2": "(fn, args=(), kwargs=None)",
        "reduce": "(reduce_op, value, axis)",
        "scope": "()",
    },
    "v2_2": {
        "__init__": "(tpu_cluster_resolver=None, device_assignment=None)",
        "extended": "",
        "num_replicas_in_sync": "",
        "experimental_assign_to_logical_device": "(tensor, logical_device_id)",
        "experimental_distribute_dataset": "(dataset)",
        "experimental_distribute_datasets_from_function": "(dataset_fn)",
        "experimental_distribute_values_from_function": "(value_fn)",
        "experimental_local_results": "(value)",
        "experimental_make_numpy_dataset": "(numpy_input)",
        "experimental_replicate_to_logical_devices": "(tensor)",
        "experimental_split_to_logical_devices": "(tensor, partition_dimensions)",
        "reduce": "(reduce_op, value, axis)",
        "run": "(fn, args=(), kwargs=None, options=None)",
        "scope": "()",
    },
}

#: Beyond the page: on contrib's class after 1.12, and what 2.x classes have kept
#: of TensorFlow 1 (2.2 and 2.3 also `experimental_run_v2`).
_FIRST_GENERATION = {
    "colocate_vars_with",
    "configure",
    "experimental_run",
    "group",
    "make_dataset_iterator",
    "make_input_fn_iterator",
    "unwrap",
    "update_config_proto",
}
BEYOND = {
    "contrib": {
        "call_for_each_replica",
        "experimental_distribute_dataset",
        "experimental_distribute_datasets_from_function",
        "experimental_finalize",
        "experimental_initialize",
        "experimental_local_results",
        "experimental_make_numpy_dataset",
        "experimental_run",
        "experimental_run_v2",
        "extended",
        "make_dataset_iterator",
        "make_input_fn_iterator",
        "num_replicas",
        "num_replicas_in_sync",
        "require_static_shapes",
        "steps_per_run",
        "update_config_proto",
    },
    "v2_0": _FIRST_GENERATION,
    "v2_2": _FIRST_GENERATION | {"experimental_run_v2"},
}


@pytest.mark.parametrize("era", surfaces.ERAS)
def test_every_member_with_its_signature(era):
    rows = surfaces.members(era)
    assert {name: rows[name].signature for name in PROMISE[era]} == PROMISE[era]
    assert set(rows) - set(PROMISE[era]) == BEYOND[era]


@pytest.mark.parametrize("era", surfaces.ERAS)
def test_carried_names_are_those_of_an_earlier_era(era):
    carried = set(surfaces.members(era)) - set(surfaces.members(era, carried=False))
    assert carried == (set() if era == "contrib" else BEYOND[era])
    for name in carried:
        assert any(
            name in surfaces.members(earlier, carried=False)
            for earlier in surfaces.ERAS[: surfaces.ERAS.index(era)]
        ), name


@pytest.mark.parametrize("era", surfaces.ERAS)
def test_kinds_follow_the_signatures(era):
    for name, row in surfaces.members(era).items():
        kind = "init" if name == "__init__" else ("method" if row.signature else "property")
        assert row.kind == kind, name


@pytest.mark.parametrize(
    ("era", "names"),
    [
        (
            "contrib",
            [
                "get_tower_context",
                "contrib.distribute.TowerContext",
                "TowerContext.merge_call",
                "TowerContext.tower_id",
                "MultiStepContext.set_last_step_output",
                "VariableAggregation.ONLY_FIRST_TOWER",
                "contrib.cluster_resolver.TPUClusterResolver",
                "contrib.tpu.initialize_system",
                "contrib.tpu.shutdown_system",
                "contrib.tpu.replicate",
                "contrib.tpu.rewrite",
                "contrib.tpu.cross_replica_sum",
                "contrib.tpu.CrossShardOptimizer",
                "contrib.tpu.bfloat16_scope",
            ],
        ),
        (
            "v2_0",
            [
                "distribute.cluster_resolver.TPUClusterResolver",
                "config.experimental_connect_to_cluster",
                "tpu.experimental.initialize_tpu_system",
                "tpu.experimental.DeviceAssignment.build",
                "tpu.experimental.Topology",
                "distribute.InputContext",
                "distribute.ReduceOp",
            ],
        ),
        (
            "v2_2",
            [
                "distribute.ValueContext",
                "distribute.experimental.ValueContext",
                "tpu.experimental.shutdown_tpu_system",
            ],
        ),
    ],
)
def test_names_around_the_strategy(era, names):
    assert not set(names) - {row.name for row in surfaces.rows_of(era)}


@pytest.mark.parametrize("era", surfaces.ERAS)
def test_no_name_stands_twice(era):
    names = [row.name for row in surfaces.rows_of(era)]
    assert sorted(set(names)) == sorted(names)


def release(text):
    major, minor = text.split(".")
    return int(major), int(minor)


@pytest.mark.parametrize("row", surfaces.ROWS, ids=lambda row: row.era + " " + row.name)
def test_fields(row):
    assert row.era in surfaces.ERAS
    assert row.kind in ("init", "property", "method", "function", "class")
    assert row.url.startswith("https://")
    if row.since and row.until:
        assert release(row.since) <= release(row.until)
    assert row.since or not row.until


#: The name stayed on the class while its signature changed.
SIGNATURE_CHANGED = {
    ("contrib", "TPUStrategy.__init__"),
    ("contrib", "TPUStrategy.reduce"),
    ("v2_0", "TPUStrategy.__init__"),
    ("v2_2", "TPUStrategy.__init__"),
    ("v2_2", "TPUStrategy.experimental_run_v2"),
}
#: Owners that have no public name of their own to look at.
HIDDEN_OWNERS = ("TowerContext", "MultiStepContext")


def natively(tensorflow, row):
    """Whether the installed TensorFlow has the name of a row."""
    owner = {
        "contrib": ["contrib.distribute", "compat.v1.distribute.experimental"],
        "v2_0": ["compat.v2.distribute.experimental"],
        "v2_2": ["compat.v2.distribute.experimental"],
    }[row.era]
    names = [row.name]
    if row.name.startswith("TPUStrategy."):
        names = [place + "." + row.name for place in owner]
    return any(found(tensorflow, name) for name in names)


def found(value, dotted):
    for part in dotted.split("."):
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return True


@pytest.mark.parametrize(
    "row",
    [
        row
        for row in surfaces.ROWS
        if (row.era, row.name) not in SIGNATURE_CHANGED and not row.name.startswith(HIDDEN_OWNERS)
    ],
    ids=lambda row: row.era + " " + row.name,
)
def test_since_and_until_are_true_of_the_installed_release(row):
    tensorflow = pytest.importorskip("tensorflow")
    here = tuple(int(part) for part in tensorflow.__version__.split(".")[:2])
    expected = (
        bool(row.since)
        and release(row.since) <= here
        and (not row.until or here <= release(row.until))
    )
    assert natively(tensorflow, row) == expected


@pytest.mark.parametrize("leads_to", sorted({row.leads_to for row in surfaces.ROWS}))
def test_every_row_leads_somewhere(leads_to):
    try:
        assert load(leads_to) is not None
    except EraNameError as error:  # a model of Keras 2
        assert ":estimator." in leads_to and error.seen.endswith("with Keras 3")


@pytest.mark.parametrize(
    "target",
    sorted(
        {
            target
            for table in (surfaces.DROPINS, surfaces.EXPORTS)
            for targets in table.values()
            for target in targets.values()
        }
    ),
)
def test_every_target_loads(target):
    assert load(target) is not None


@pytest.mark.parametrize(
    ("text", "era"),
    [
        ("contrib", "contrib"),
        ("2.0", "v2_0"),
        ("v2.2", "v2_2"),
        ("2_2", "v2_2"),
        (" Contrib ", "contrib"),
        ("v2_0", "v2_0"),
        ("2.1", None),
        ("", None),
        ("v", None),
        ("vcontrib", None),
    ],
)
def test_era_named(text, era):
    assert surfaces.era_named(text) == era


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("contrib.layers.fully_connected", "contrib.layers"),
        ("contrib.tpu.repeat", "contrib.tpu.repeat"),
        ("contrib.unheard_of.thing", "contrib"),
        ("estimator.Estimator", "estimator"),
        ("contribution", None),
        ("nn.relu", None),
    ],
)
def test_the_longest_prefix_of_what_is_gone(name, prefix):
    assert leads.gone_prefix(name) == prefix


def test_rows_of_an_unknown_era():
    with pytest.raises(KeyError):
        surfaces.rows_of("2.0")


def test_the_table_imports_no_tensorflow():
    code = (
        "import sys, tpudist, tpudist.surfaces, tpudist.contrib, "
        "tpudist.v2_0, tpudist.v2_2, tpudist.legacy.runner\n"
        "from tpudist.contrib import tensorflow\n"
        "assert 'tensorflow' not in sys.modules and "
        "'numpy' not in sys.modules, 'imported'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
