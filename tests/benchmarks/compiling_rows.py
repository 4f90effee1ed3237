"""What compiling for a TPU takes: rows of the table, (what, measured, unit, bound).

Nothing where there is no libtpu; that is said.
"""

import statistics

from tests.benchmarks import processes

#: (model, batch of a core, CPU seconds and GiB of the compiler at most): a tenth more
#: than measured on 2026-11-22 on two cores that six others shared.
MODELS = (
    ("lstm", 32, 1.9, 0.25),
    ("mobilenet_v2", 64, 173, 1.48),
    ("efficientnet_b0", 64, 297, 2.22),
    ("resnet50_float32", 64, 185, 1.75),
    ("bert_base", 32, 305, 5.22),
)


def one_net(repeats, quick):
    """An MNIST-like net, also for many replicas; ResNet50 quickly.

    Args:
      repeats: how often the ratio of many replicas to one is measured.
      quick: small sizes, whose numbers mean nothing.
    """
    if not _can():
        return []
    return _one_net(repeats, quick)


def models(quick):
    """Yields CPU seconds and memory of the compiler for real models.

    Args:
      quick: only the smallest, with few optimizations.
    """
    if not _can():
        return
    for model in MODELS[:1] if quick else MODELS:
        yield from _model(*model, quick)


def _model(model, batch, seconds, size, quick):
    found = _compiled(model, 8, batch, "v5e:2x4", quick)
    what = "compiling %s, batch %d a core: " % (model, batch)
    return [
        (what + "CPU time", found["cpu"], " s", seconds),
        (what + "memory of the compiler", found["peak"] / 2.0**30, " GiB", size),
    ]


def _can():
    from tpudist.errors import CompileError
    from tpudist.tools.compile.compiler import libtpu

    try:
        libtpu.find()
    except CompileError as error:
        print("(compiling is not measured: %s)" % error.seen, flush=True)
        return False
    return True


def _compiled(model, replicas, batch, topology, fast):
    return processes.answer("compiling", model, replicas, batch, topology, int(fast))


def _one_net(repeats, quick):
    first = _compiled("convolution", 8, 128, "v5e:2x4", quick)
    large = _compiled("resnet50", 8, 2 if quick else 128, "v5e:2x4", True)
    ratios = [
        _compiled("convolution", 256, 128, "v5e:16x16", quick)["cpu"]
        / _compiled("convolution", 1, 128, "v5e:1x1", quick)["cpu"]
        for _ in range(repeats)
    ]
    net = "compiling an MNIST-like CNN for v5e:2x4, 8 replicas: "
    return [
        (net + "CPU time", first["cpu"], " s", 20),
        (net + "memory of the compiler's process", first["peak"] / 2.0**30, " GiB", 1),
        ("compiling it for 256 replicas / for 1, CPU time", statistics.median(ratios), "", 1.2),
        (
            "compiling ResNet50, bfloat16, batch 128 a core, --fast: CPU time",
            large["cpu"],
            " s",
            30,
        ),
        ("the same, memory of the process that traces", large["host"] / 2.0**30, " GiB", 1.5),
    ]
