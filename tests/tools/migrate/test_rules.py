"""The rules and the table: every member that ended has a rule, every rule a note."""

import pytest

from tpudist import surfaces
from tpudist.tools.migrate import rules
from tpudist.tools.migrate.resolution import tensorflow_names

EVERY = [rule for rule in rules.load() if rule.step != "all"]

#: Members of contrib's strategy that 2.x has with the same meaning, and why not more.
STAYS = {
    "scope": "the same",
    "extended": "the same",
    "num_replicas_in_sync": "the same",
    "__init__": "the constructor rule",
    "experimental_distribute_dataset": "the same",
    "experimental_distribute_datasets_from_function": "the same",
    "experimental_local_results": "the same",
    "experimental_make_numpy_dataset": "the same",
    "experimental_run_v2": "the same",
    "update_config_proto": "the same",
}


def uses(step):
    return {key for rule in EVERY if rule.step == step for key in rule.uses}


def test_each_rule_says_what_it_is_for():
    for rule in EVERY:
        assert rule.note.startswith("https://"), rule.name
        assert rule.step in ("2.0", "2.2", "latest"), rule.name
        assert rule.text.split("\n")[0].endswith((".", "].")), rule.name
        assert rule.uses or rule.name in ("keras-2", "sessions", "estimators"), rule.name


def test_names_of_rules_are_their_own():
    names = [rule.name for rule in EVERY]
    assert len(set(names)) == len(names)


def test_no_two_rules_for_a_name():
    for step in ("2.0", "2.2", "latest"):
        keys = [key for rule in EVERY if rule.step == step for key in rule.uses]
        assert len(keys) == len(set(keys)), sorted(key for key in keys if keys.count(key) > 1)


def test_every_member_of_contrib_has_a_rule_or_stays():
    with_rule = {name for kind, name in uses("2.0") if kind == "strategy"}
    assert set(surfaces.members("contrib")) - with_rule == set(STAYS)
    assert with_rule & set(STAYS) == set()


def test_members_that_ended_with_2_0_have_a_rule():
    ended = set(surfaces.members("v2_0")) - set(surfaces.members("v2_2", carried=False))
    ended -= {name for name, row in surfaces.members("v2_0").items() if row.carried}
    assert ended == {"experimental_run_v2"}
    assert {("strategy", name) for name in ended} <= uses("2.2")


def test_members_gone_from_todays_class_have_a_rule():
    rows = surfaces.members("v2_2", carried=False)
    gone = {name for name, row in rows.items() if row.until == "2.3"}
    kept = {name for name in gone if "logical_device" in name}  # on tf.distribute.TPUStrategy
    assert {("strategy", name) for name in gone - kept} <= uses("latest")


def test_every_name_of_contrib_has_a_rule():
    rows = [
        row
        for row in surfaces.rows_of("contrib")
        if not row.name.startswith(("TPUStrategy.", "MultiStep", "estimator."))
    ]
    assert len(rows) > 20
    assert [row.name for row in rows if _key(row) not in uses("2.0")] == []


def _key(row):
    """What the rule of a name of contrib is asked for."""
    # What 2.x has no successor of stays, and is said.
    if row.leads_to.startswith(("tpudist.estimator", "tpudist.keras.tpu_models")) or (
        row.name.startswith(
            ("contrib.tpu.keras_to_tpu_model", "contrib.tpu.repeat", "contrib.tpu.while_loop")
            + ("contrib.tpu.InfeedQueue", "contrib.tpu.infeed_", "contrib.tpu.outfeed_")
        )
    ):
        return "tf", "contrib.*"
    owner, _, member = row.name.rpartition(".")
    return ("context", member) if owner == "TowerContext" else ("tf", row.name)


def test_successors_are_names_of_the_era():
    era = "v2_0"
    known = {row.name for row in surfaces.rows_of(era)}
    for old, new in surfaces.NAMES[era].items():
        assert not new.startswith("contrib"), old
        if new.endswith(("TPUStrategy", "TPUClusterResolver", "initialize_tpu_system")):
            assert new in known
    members = set(surfaces.members(era))
    for (kind, old), new in surfaces.MEMBERS[era].items():
        if kind == "strategy":
            assert new.split(".")[0] in members, old


@pytest.mark.parametrize("era", surfaces.ERAS)
def test_every_export_of_tpudist_is_a_name_of_tensorflow(era):
    for name in surfaces.EXPORTS[era]:
        if name != "MultiStepContext":  # of contrib alone; TensorFlow never exported it
            dotted = tensorflow_names.below_tensorflow("tpudist.%s.%s" % (era, name))
            assert dotted and dotted.rpartition(".")[2] in (name, "experimental_" + name), name


@pytest.mark.parametrize(
    ("full", "dotted"),
    [
        ("tensorflow", ""),
        ("tensorflow.contrib.tpu", "contrib.tpu"),
        ("tensorflow.compat.v1.Session", "Session"),
        ("tensorflow.compat.v2", ""),
        ("tensorflow.compat.v1.compat.v2.function", "function"),
        ("tpudist.contrib.tensorflow", ""),
        ("tpudist.v2_0.tensorflow.compat.v1.x", "x"),
        ("tpudist.contrib.TPUStrategy", "contrib.distribute.TPUStrategy"),
        ("tpudist.v2_2.TPUStrategy", "distribute.experimental.TPUStrategy"),
        ("tpudist.contrib.get_tower_context", "contrib.distribute.get_tower_context"),
        ("tensorflow_probability", None),
        ("tpudist", None),
        ("tpudist.cli.main", None),
        ("numpy.random", None),
    ],
)
def test_below_tensorflow(full, dotted):
    assert tensorflow_names.below_tensorflow(full) == dotted


@pytest.mark.parametrize(
    ("dotted", "kind"),
    [
        ("contrib.distribute.TPUStrategy", "strategy"),
        ("distribute.MirroredStrategy", "strategy"),
        ("distribute.experimental.TPUStrategy", "strategy"),
        ("contrib.distribute.python.tpu_strategy.TPUStrategy", "strategy"),
        ("python.distribute.tpu_strategy.TPUStrategyV2", "strategy"),
        ("distribute.get_strategy", "strategy"),
        ("train.AdamOptimizer", "optimizer"),
        ("keras.optimizers.Adam", "keras_optimizer"),
        ("distribute.ReduceOp", None),
        ("Session", None),
        ("estimator.ExportStrategy", None),
    ],
)
def test_result_of(dotted, kind):
    assert tensorflow_names.result_of(dotted) == kind
