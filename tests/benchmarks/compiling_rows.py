"""What compiling for a TPU takes: rows of the table, (what, measured, unit, bound).

Nothing where there is no libtpu; that is said.
"""

import statistics
import tempfile

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
    """An MNIST-like net, again from the cache, for many replicas; ResNet50 quickly.

    Args:
      repeats: how often the ratio of many replicas to one is measured.
      quick: small sizes, whose numbers mean nothing.
    """
    if not _can():
        return []
    with tempfile.TemporaryDirectory() as folder:
        return _one_net(repeats, quick, {"TPUDIST_CACHE": folder})


def models(quick):
    """Yields CPU seconds and memory of the compiler for real models, and their second run.

    Args:
      quick: only the smallest, with few optimizations.
    """
    if not _can():
        return
    with tempfile.TemporaryDirectory() as folder:
        for model in MODELS[:1] if quick else MODELS:
            yield from _model(*model, quick, {"TPUDIST_CACHE": folder})


def _model(model, batch, seconds, size, quick, environ):
    first, again = [_compiled(environ, model, 8, batch, "v5e:2x4", quick, True) for _ in range(2)]
    assert again["cached"] and not first["cached"]
    what = "compiling %s, batch %d a core: " % (model, batch)
    return [
        (what + "CPU time", first["cpu"], " s", seconds),
        (what + "memory of the compiler", first["peak"] / 2.0**30, " GiB", size),
        (what + "unchanged, again: CPU time of tracing it", again["cpu"], " s", None),
        (
            what + "unchanged, again: from its HLO to the answer, CPU time",
            again["answering"],
            " s",
            1,
        ),
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


def _compiled(environ, model, replicas, batch, topology, fast, cache):
    return processes.answer(
        "compiling", model, replicas, batch, topology, int(fast), int(cache), environ=environ
    )


def _one_net(repeats, quick, environ):
    def compiled(*arguments):
        return _compiled(environ, *arguments)

    first = compiled("convolution", 8, 128, "v5e:2x4", quick, True)
    cached = compiled("convolution", 8, 128, "v5e:2x4", quick, True)
    assert cached["cached"] and not first["cached"]
    large = compiled("resnet50", 8, 2 if quick else 128, "v5e:2x4", True, False)
    ratios = [
        compiled("convolution", 256, 128, "v5e:16x16", quick, False)["cpu"]
        / compiled("convolution", 1, 128, "v5e:1x1", quick, False)["cpu"]
        for _ in range(repeats)
    ]
    net = "compiling an MNIST-like CNN for v5e:2x4, 8 replicas: "
    return [
        (net + "CPU time", first["cpu"], " s", 20),
        (net + "memory of the compiler's process", first["peak"] / 2.0**30, " GiB", 1),
        (net + "a kept answer, beyond TensorFlow's import", cached["seconds"], " s", 1),
        ("compiling it for 256 replicas / for 1, CPU time", statistics.median(ratios), "", 1.2),
        (
            "compiling ResNet50, bfloat16, batch 128 a core, --fast: CPU time",
            large["cpu"],
            " s",
            30,
        ),
        ("the same, memory of the process that traces", large["host"] / 2.0**30, " GiB", 1.5),
    ]
