"""What compat/PROGRAMS.md says of the numbers and times of TensorFlow 2's programs."""

import json
import os

#: The results of :mod:`compat.make.programs_equal_tf2`.
RESULTS_2 = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs_equal_tf2.json")

_NUMBERS = """## The same numbers, TensorFlow 2

Run by `python -m compat.make.programs_equal_tf2` on 2.21 and tf_keras: under `tpudist run --tpu
virtual:4`, on plain TensorFlow with its MirroredStrategy on four logical CPUs, and on its
OneDeviceStrategy. No program is migrated for that; `experimental_run_v2` is `run` there. All are
seeded alike, without oneDNN's kernels, dropout and shuffles; some train less, by SGD instead of
Adam, which scales a gradient that is nothing but rounding, or on a TPUStrategy where TensorFlow's
page has a MirroredStrategy. A cell has how many numbers were compared, and the largest relative
difference: of the losses that the training and test functions returned at each call, of those
that are printed, of accuracies, which count examples, one of which may be a tie, and of the sum
of absolute values of each trainable variable at the end. MirroredStrategy adds the cores'
gradients in another order, and differs from one device as it differs from the virtual TPU. The
guide of 2020-03 ends its epochs with an uneven batch, which cores weigh otherwise than one device
does.

%s
%s
"""

_TIMES = """## The time of a step

CPU seconds of the same runs, on a busy machine of two CPUs: of the first call of the function
that trains, which traces it, and of a later one (the median). The ratio is that of the virtual
TPU to OneDeviceStrategy, at the same global batch; it is to be at most 2 for a first step, 1.1
for a step. The runs were not in turn, as those of [FIGURES.md](FIGURES.md) are, and first steps
differ by a third and more from one to another: the autoencoder's took 2.0 and 1.8 times one
device's, that of the guide of 2020-03 1.3 and 2.2 times. In a profile of the autoencoder's, half
is TensorFlow's tracing of the replica function, which one device needs too, and 28 %% is ours:
the batched program is built, two thirds of that by batching rules. Both are done twice, for
TensorFlow traces a function that makes variables twice.

Before 2.4 TensorFlow's own replicas are traced one by one, and so are the virtual ones outside of
`run_steps_on_dataset` and Estimators. Keras' ResNet50 (64 x 64, global batch 32, a custom loop on
2.2.3, 2026-11-28) took 64.5 CPU seconds for its first step on eight virtual cores, 7.6 times the
8.5 of one device, and for a later step 3.90 beside 3.82: eight traces in place of one.

%s
%s
"""

_NUMBERS_OF = (
    "program",
    "lines changed",
    "losses: one device",
    "losses: mirrored",
    "printed: mirrored",
    "accuracies: mirrored",
    "variables: mirrored",
)
_TIMES_OF = (
    "program",
    "first step: virtual, mirrored, one device",
    "ratio",
    "step: virtual, mirrored, one device",
    "ratio",
)


def sections():
    """The text of both tables."""
    with open(RESULTS_2, encoding="utf-8") as file:
        found = json.load(file)
    numbers = [_numbers(name, each) for name, each in found.items()]
    times = [_times(name, each["seconds"]) for name, each in found.items() if _is_timed(each)]
    return "%s\n%s" % (
        _NUMBERS % (_head(_NUMBERS_OF), "\n".join(numbers)),
        _TIMES % (_head(_TIMES_OF), "\n".join(times)),
    )


def _head(names):
    return "| %s |\n%s|" % (" | ".join(names), "|---" * len(names))


def _is_timed(result):
    return all(result["seconds"].values())


def _numbers(name, result):
    mirrored, plain = (result["differences"][how] for how in ("mirrored", "plain"))
    pairs = [plain["losses"], mirrored["losses"], mirrored["printed"], mirrored["accuracies"]]
    cells = [
        "%d: %.1e" % tuple(each) if each[0] else "" for each in pairs + [mirrored["variables"]]
    ]
    return "| %s | %d | %s |" % (name, result["lines"], " | ".join(cells))


def _times(name, seconds):
    cells = []
    for place, digits in (0, 1), (1, 3):
        each = [seconds[how][place] for how in ("virtual", "mirrored", "plain")]
        cells += [", ".join("%.*f" % (digits, one) for one in each), "%.2f" % (each[0] / each[2])]
    return "| %s | %s |" % (name, " | ".join(cells))
