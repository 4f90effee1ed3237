"""The models of which every op, or nearly, is batched: each step against a plain device.

CPU time (of all threads) of a step and of the first one, and memory, with the same global
batch; the plain and the virtual process take turns. A process has one first step, so there
are some of each engine, of which the least CPU time counts: on a machine that others use too
one first step takes up to twice as long as the next. Bounds hold for 8 cores and for 32.
"""

import collections
import contextlib
import statistics

from tests.benchmarks import processes

#: {row: what the processes are told}; `steps` are steps of a turn.
MODELS = collections.OrderedDict(
    [
        ("CNN", dict(model="cnn", batch=256, steps=20)),
        ("ResNet with batch normalisation", dict(model="resnet", batch=64, blocks=2, steps=4)),
        ("U-Net", dict(model="unet", batch=64, steps=2)),
        ("DLRM", dict(model="dlrm", batch=2048, steps=20)),
        ("CNN, unknown batch", dict(model="cnn", batch=256, unknown=True, steps=20)),
        ("CNN with tf.nn.dropout", dict(model="cnn_dropout", batch=256, steps=4)),
        ("BERT-like, 4 x 256, sequence 128", dict(model="bert", batch=32, steps=1)),
        ("LSTM language model", dict(model="lstm", batch=128, steps=2)),
        ("while_loop", dict(model="while_loop", batch=256, steps=20)),
        ("while_loop until a number is large", dict(model="while_small", batch=256, steps=20)),
        ("dynamic_rnn with lengths", dict(model="dynamic_rnn", batch=128, steps=1)),
        ("bidirectional RNN with lengths", dict(model="bidirectional_rnn", batch=128, steps=1)),
        ("decoder in training", dict(model="decoder", batch=128, steps=1)),
        ("boolean_mask", dict(model="boolean_mask", batch=512, steps=20)),
    ]
)

#: Processes of each engine that take a first step.
FIRST_STEPS = 5

#: At most, for 8 cores and for 32: a step, the first step, memory.
BOUNDS = {8: (1.10, 1.6, 1.35), 32: (1.15, 2.5, 1.35)}

#: Loops that replicas leave at different times.
_LEFT = {8: (1.25, 1.8, 1.5), 32: (1.4, 1.8, 2.3)}

#: What may take more: each replica has its own number of rows, or does its own rounds.
OWN_BOUNDS = {
    "boolean_mask": {8: (1.3, 1.8, 1.5), 32: (1.6, 2.5, 1.6)},
    "while_loop until a number is large": _LEFT,
    "dynamic_rnn with lengths": _LEFT,
    "bidirectional RNN with lengths": _LEFT,
    "decoder in training": _LEFT,
}


def rows(sizes, quick):
    """(what, measured, unit, bound) for each model, number of cores and quantity."""
    if quick:
        return _model("while_loop", dict(model="while_loop", batch=16, steps=1), sizes.cores, 1)
    return [
        row
        for cores in (sizes.cores, sizes.many)
        for name, options in MODELS.items()
        for row in _model(name, options, cores, max(3, sizes.rounds // 5))
    ]


def _model(name, options, cores, rounds):
    bounds = OWN_BOUNDS.get(name, BOUNDS)
    bounds = bounds.get(cores, bounds[8])
    ratios = measure(options, cores, rounds)
    what = name + ": %s, %d virtual cores / one plain device"
    return [
        (what % (quantity, cores), ratio, "", bound)
        for quantity, ratio, bound in zip(
            ("CPU time of a step", "CPU time of the first step", "memory"), ratios, bounds
        )
    ]


def measure(options, cores, rounds):
    """Virtual over plain: CPU time of a step (the median), of the first step, memory."""
    told = {name: value for name, value in options.items() if name != "steps"}
    before = [_first_steps(told, cores) for _ in range(1, FIRST_STEPS if rounds > 1 else 1)]
    with contextlib.ExitStack() as stack:
        virtual, plain = _engines(stack, told, cores)
        first = before + [[engine.first()["cpu"] for engine in (virtual, plain)]]
        for engine in (virtual, plain):
            engine.steps(2)
        turns = [
            [engine.steps(options["steps"]) for engine in (virtual, plain)] for _ in range(rounds)
        ]
    step = statistics.median(one["cpu"] / other["cpu"] for one, other in turns)
    peaks = [max(answer["peak"], 1) for answer in turns[-1]]
    first_of_virtual, first_of_plain = map(min, zip(*first))
    return step, first_of_virtual / first_of_plain, peaks[0] / peaks[1]


def _engines(stack, told, cores):
    return [
        stack.enter_context(processes.Engine(name, cores=cores, **told))
        for name in ("virtual", "plain")
    ]


def _first_steps(told, cores):
    with contextlib.ExitStack() as stack:
        return [engine.first()["cpu"] for engine in _engines(stack, told, cores)]
