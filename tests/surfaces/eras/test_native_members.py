"""What TensorFlow's own strategies have is no evidence of contrib: compared with the classes."""

import pytest
import tensorflow as tf

from tpudist import surfaces
from tpudist.surfaces.eras import names as era_names
from tpudist.tfcompat import versions

#: Public members of the strategies of ``tf.compat.v2.distribute``, as ``dir()`` lists them.
RECORDED = {
    "1.15": """
        colocate_vars_with configure experimental_distribute_dataset
        experimental_distribute_datasets_from_function experimental_local_results
        experimental_make_numpy_dataset experimental_run experimental_run_v2 extended group
        make_dataset_iterator make_input_fn_iterator num_replicas_in_sync reduce scope unwrap
        update_config_proto
    """,
    "2.2": """
        colocate_vars_with configure experimental_assign_to_logical_device
        experimental_distribute_dataset experimental_distribute_datasets_from_function
        experimental_distribute_values_from_function experimental_local_results
        experimental_make_numpy_dataset experimental_replicate_to_logical_devices
        experimental_run experimental_run_v2 experimental_split_to_logical_devices extended
        group make_dataset_iterator make_input_fn_iterator num_replicas_in_sync reduce run
        scope unwrap update_config_proto
    """,
    "2.21": """
        cluster_resolver colocate_vars_with configure distribute_datasets_from_function
        experimental_assign_to_logical_device experimental_distribute_dataset
        experimental_distribute_datasets_from_function
        experimental_distribute_values_from_function experimental_local_results
        experimental_replicate_to_logical_devices experimental_run
        experimental_split_to_logical_devices extended gather group make_dataset_iterator
        make_input_fn_iterator num_replicas_in_sync reduce run scope unwrap update_config_proto
    """,
}
CLASSES = ("Strategy", "MirroredStrategy", "OneDeviceStrategy", "TPUStrategy")


needs_v2 = pytest.mark.skipif(
    not versions.HAS_COMPAT_V2, reason="1.13 has no strategies of TensorFlow 2"
)


def evidence_of_contrib(members, receiver="strategy"):
    """Those of some members that tell contrib's era alone, taken from a strategy."""
    known = set(surfaces.members("contrib")) & set(members)
    return [name for name in known if era_names.eras_of_member(name, receiver) == ("contrib",)]


@pytest.mark.parametrize("release", sorted(RECORDED))
def test_no_member_of_a_recorded_release_tells_contrib(release):
    assert evidence_of_contrib(RECORDED[release].split()) == []


@needs_v2
def test_no_member_of_this_release_tells_contrib():
    distribute = tf.compat.v2.distribute
    spaces = (distribute, distribute.experimental)
    classes = [getattr(space, name) for space in spaces for name in CLASSES if name in dir(space)]
    members = {name for each in classes for name in dir(each) if not name.startswith("_")}
    assert "experimental_local_results" in members
    assert evidence_of_contrib(members) == []
    recorded = RECORDED.get("%d.%d" % versions.TF.release[:2])
    assert recorded is None or sorted(members) == recorded.split()


@needs_v2
@pytest.mark.parametrize("receiver", ["extended", "strategy_extended", "ext", ""])
def test_no_member_of_what_strategies_extend_tells_contrib(receiver):
    members = dir(tf.compat.v2.distribute.StrategyExtended)
    assert "colocate_vars_with" in members
    assert evidence_of_contrib(members, receiver) == []


def test_members_that_are_gone_still_tell_it():
    assert {"num_towers", "read_var", "call_for_each_tower", "run_steps_on_dataset"} <= set(
        evidence_of_contrib(surfaces.members("contrib"))
    )
