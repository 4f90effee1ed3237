"""Which eras a name tells."""

import pytest

from tpudist.surfaces.eras import names as era_names


@pytest.mark.parametrize(
    ("dotted", "eras"),
    [
        ("contrib", ("contrib",)),
        ("contrib.layers.dense", ("contrib",)),
        ("contribution", ()),
        ("train.AdamOptimizer", ("contrib",)),
        ("compat.v1.train.AdamOptimizer", ()),
        ("distribute.experimental.TPUStrategy", ("v2_0", "v2_2")),
        ("compat.v2.distribute.experimental.TPUStrategy", ("v2_0", "v2_2")),
        ("function", ()),
    ],
)
def test_eras_of_a_name(dotted, eras):
    assert era_names.eras_of_name(dotted) == eras


@pytest.mark.parametrize(
    ("name", "receiver", "eras"),
    [
        ("experimental_run_v2", "anything", ("contrib", "v2_0")),
        ("experimental_run_v2", "extended", ()),
        ("read_var", "strategy", ("contrib",)),
        ("unwrap", "strategy", ()),
        ("unwrap", "value", ()),
        ("run", "self_distribution", ("v2_2",)),
        ("run", "session", ()),
        ("experimental_local_results", "strategy", ()),
        ("tower_id", "x", ("contrib",)),
        ("make_dataset_iterator", "s", ()),
    ],
)
def test_eras_of_a_member(name, receiver, eras):
    assert era_names.eras_of_member(name, receiver) == eras
