"""Programs compiled with the real TPU compiler."""

import base64
import json

import pytest

from tests.tools.compile import harness
from tpudist.errors import CompileError, TopologyError
from tpudist.surfaces import slices
from tpudist.tfcompat import versions
from tpudist.tools.compile.compiler import compilation, libtpu
from tpudist.tools.compile.hlo import normal_form, optimized

if not versions.LOWERS_TO_HLO:
    pytest.skip("TensorFlow before 2.12 gives no HLO", allow_module_level=True)

from tests.tools.compile import nets

SIZE = nets.INPUTS * nets.OUTPUTS * 4

#: 8 and 256 devices of each generation.
SLICES = [
    ("v3-8", 8),
    ("v3:8x16", 256),
    ("v4-16", 8),
    ("v4:4x8x8", 256),
    ("v5p-16", 8),
    ("v5litepod-8", 8),
    ("v5e:16x16", 256),
    ("v6e-8", 8),
    ("v6e:16x16", 256),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "devices"), SLICES)
def test_every_generation_compiles(compiled, name, devices):
    found = compiled(nets.dense(devices), name, fast=True)
    assert found.ok, found.failure
    assert (found.target.devices, found.target.replicas) == (devices, devices)
    assert [(each.kind, each.count, each.bytes) for each in found.requested] == [
        ("all-reduce", 1, SIZE)
    ]
    kinds = {each.kind: each.count for each in found.optimized}
    assert kinds == {"all-reduce": 1} or (
        devices > 8 and set(kinds) == {"reduce-scatter", "all-reduce", "all-gather"}
    )
    # The batch and two variables, whose rows and columns fill the tiles.
    assert found.memory.arguments == 2 * SIZE + nets.BATCH * nets.INPUTS * 4
    assert found.memory.aliased == 2 * SIZE
    assert 0 < found.memory.total < found.target.hbm
    assert not found.target.optimized


@pytest.mark.slow
@pytest.mark.proof
def test_full_optimization(compiled):
    program = nets.convolution()
    found, fast = compiled(program, "v5e:2x4"), compiled(program, "v5e:2x4", fast=True)
    assert found.ok and found.target.optimized
    assert found.memory.temporary < fast.memory.temporary
    assert [(each.kind, each.count) for each in found.requested] == [("all-reduce", 5)]
    assert [(each.kind, each.count) for each in found.optimized] == [("all-reduce", 1)]
    # Two products forward and four backward (the images need no gradient).
    multiplications = 128 * (28 * 28 * 9 * 32 * 2 + 14 * 14 * 32 * 128 * 3 + 128 * 10 * 3)
    assert 2 * multiplications == pytest.approx(found.cost.flops, rel=0.2)


@pytest.mark.parametrize(
    "fast", [True, pytest.param(False, marks=[pytest.mark.slow, pytest.mark.proof])]
)
def test_memory_counted_by_hand(compiled, fast):
    """Variables and inputs; the compiler's sum counts the padding of tiles."""
    found = compiled(nets.convolution(), "v5e:2x4", fast=fast)
    sizes = {
        "images": 128 * 28 * 28 * 4,
        "labels": 128 * 4,
        "convolution/kernel": 3 * 3 * 32 * 4,
        "convolution/bias": 32 * 4,
        "dense/kernel": 6272 * 128 * 4,
        "dense/bias": 128 * 4,
        "output/kernel": 128 * 10 * 4,
    }
    sizes.update({name + "/momentum": size for name, size in sizes.items() if "/" in name})
    assert {each.name: each.bytes for each in found.arguments} == sizes
    ranked = [each.bytes for each in found.arguments]
    assert ranked == sorted(ranked, reverse=True)
    # The compiler's tiles have 128 numbers, or 8 x 128.
    padded = dict(
        sizes,
        **{
            "convolution/kernel": 3 * 3 * 128 * 4,
            "convolution/bias": 128 * 4,
            "output/kernel": 128 * 16 * 4,
        },
    )
    for name in [each for each in padded if each.endswith("/momentum")]:
        padded[name] = padded[name[: -len("/momentum")]]
    assert found.memory.arguments == sum(padded.values()) == 6852096
    variables = sum(padded.values()) - padded["images"] - padded["labels"]
    assert found.memory.aliased == variables
    assert found.memory.outputs - variables == 1024  # the loss, and the tuple's table


def batch(*tiles):
    return lambda strategy, images, weight: (
        strategy.experimental_split_to_logical_devices(images, tiles),
        weight,
    )


def columns(strategy, images, weight):
    return images, strategy.experimental_split_to_logical_devices(weight, [1, 2])


def replicate(strategy, images, weight):
    return strategy.experimental_replicate_to_logical_devices(images), weight


@pytest.mark.slow
@pytest.mark.parametrize(
    ("annotate", "partitions", "images", "weight"),
    [
        (batch(2, 1), 2, (16, 256), (256, 512)),
        (batch(1, 2), 2, (32, 128), (256, 512)),
        (batch(2, 2), 4, (16, 128), (256, 512)),
        (batch(4, 1), 4, (8, 256), (256, 512)),
        (batch(1, 4), 4, (32, 64), (256, 512)),
        (columns, 2, (32, 256), (256, 256)),
        (replicate, 2, (32, 256), (256, 512)),
    ],
)
@pytest.mark.parametrize("replicas", ["all", "half"])
def test_logical_devices(compiled, annotate, partitions, images, weight, replicas):
    count = 8 // partitions // (2 if replicas == "half" else 1)
    program = nets.dense(count, partitions, annotate)
    found = compiled(program, "v5e:2x4", fast=True)
    assert found.ok, found.failure
    shapes_of = {each.name: each.device_shape for each in found.arguments}
    assert shapes_of == {"images": images, "weight": weight, "momentum": (256, 512)}
    used = any("4 of the 8 devices" in each for each in found.warnings)
    assert used == (replicas == "half")


def test_a_reduction_is_across_replicas_and_not_logical_devices(compiler):
    """Over more devices it would be a multiple of the sum; the compiled program is checked too."""
    program = nets.dense(4, 2, batch(2, 1))
    found = slices.find("v5e:2x4")
    answer = libtpu.ask(
        {
            "libtpu": compiler.path,
            "topology": found.name,
            "options": compilation.topology_options(found),
            "compile_options": base64.b64encode(compilation.compile_options(4, 2, True)).decode(),
            "hlo": base64.b64encode(normal_form.normalized(program.hlo, 4, 2)).decode(),
        }
    )
    module = optimized.module(base64.b64decode(answer["optimized"]))
    (reduction,) = [
        each
        for computation in module.computations
        for each in computation.instructions
        if each.opcode == "all-reduce" and "CollectiveReduce" in each.metadata.op_name
    ]
    assert not reduction.use_global_device_ids
    if not hasattr(reduction, "collective_device_list"):
        pytest.skip("this TensorFlow does not read libtpu's groups")
    groups = reduction.replica_groups or reduction.collective_device_list.replica_groups
    assert [list(group.replica_ids) for group in groups] == [[0, 1, 2, 3]]


def test_a_split_variable_comes_out_split(compiled):
    """It is updated in place, which would be impossible for a whole result."""
    found = compiled(nets.dense(4, 2, columns), "v5e:2x4", fast=True)
    assert found.memory.aliased == SIZE // 2 + SIZE


@pytest.mark.slow
def test_assigning_saves_nothing(compiled):
    def assign(strategy, images, weight):
        return strategy.experimental_assign_to_logical_device(images, 1), weight

    found = compiled(nets.dense(4, 2, assign), "v5e:2x4", fast=True)
    plain = compiled(nets.dense(4, 2), "v5e:2x4", fast=True)
    assert found.memory.arguments == plain.memory.arguments


@pytest.mark.slow
@pytest.mark.parametrize(("name", "replicas", "fits"), [("v4-8", 4, True), ("v5e:2x4", 8, False)])
def test_a_chip_of_two_cores_has_the_memory_of_both(compiled, name, replicas, fits):
    """The program takes 18.3 GiB, more than a core of v4 has."""
    import tensorflow as tf

    strategy = harness.strategy(replicas)
    program = harness.lower(strategy, tf.reduce_sum, tf.TensorSpec([70000, 70000]))
    found = compiled(program, name, fast=True)
    assert found.ok == fits
    assert fits or found.failure.kind == "out-of-memory"


@pytest.mark.slow
def test_out_of_memory_names_the_largest_arrays(compiled):
    found = compiled(nets.convolution(batch=1 << 18), "v5e:2x4", fast=True)
    assert (found.ok, found.failure.kind) == (False, "out-of-memory")
    first = found.failure.largest[0]
    assert first.bytes == (1 << 18) * 28 * 28 * 32 * 4 > found.target.hbm
    assert "nets.py:" in first.location
    assert found.memory is None and found.cost is None
    assert {each.name for each in found.arguments} >= {"images", "labels", "dense/kernel"}


def test_an_op_that_tpus_do_not_have_is_refused(compiled):
    import tensorflow as tf

    def step(x):
        return tf.signal.fft(tf.cast(x, tf.complex128))

    try:
        program = harness.lower(harness.strategy(1), step, tf.zeros([8]))
    except CompileError as error:  # this TensorFlow has no kernel to lower it with
        assert "FFT" in str(error)
        return
    found = compiled(program, "v5e:1x1")
    assert (found.ok, found.failure.kind) == (False, "refused")
    assert "c128" in found.failure.message.lower()


@pytest.mark.slow
def test_the_hottest_lines_are_the_users(compiled):
    found = compiled(nets.convolution(), "v5e:2x4")
    assert sum(each.share for each in found.hottest) <= 1.0001
    assert [each for each in found.hottest if "nets.py:" in each.location]
    cycles = [each.cycles for each in found.hottest]
    assert cycles == sorted(cycles, reverse=True)


@pytest.mark.parametrize(("replicas", "topology"), [(8, "v5e:2x2"), (8, "v5e:3x3"), (8, "v5p-8")])
def test_nothing_is_compiled_for_a_slice_that_is_too_small(monkeypatch, replicas, topology):
    from tpudist.tools.compile.compiler import compilation

    monkeypatch.setattr(libtpu, "ask", None)
    program = nets.dense(replicas)
    with pytest.raises(TopologyError):
        compilation.compile_program(program, topology)


def test_reports_are_json(compiled):
    for found in (
        compiled(nets.dense(4, 2, columns), "v5e:2x4", fast=True),
        compiled(nets.convolution(batch=1 << 18), "v5e:2x4", fast=True),
    ):
        values = json.loads(json.dumps(found.to_json(), allow_nan=False))
        assert values["ok"] == found.ok
        assert values["compared"] == (found.compared() if found.ok else None)
