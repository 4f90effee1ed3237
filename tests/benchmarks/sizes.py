"""A line of the benchmark's table, and how much is measured for it."""

import collections

#: One line of the table; `bound` is None where there is nothing to hold.
Figure = collections.namedtuple("Figure", "what measured unit bound")

#: How much is measured. `rounds` are turns of all engines.
Sizes = collections.namedtuple(
    "Sizes",
    "rounds steps warmup batch width layers mlp_batch repeats "
    "blocks cores many loop_steps loop_rounds starts releases matrix_rounds files",
)

FULL = Sizes(
    rounds=25,
    steps=10,
    warmup=10,
    batch=256,
    width=2048,
    layers=4,
    mlp_batch=256,
    repeats=3,
    blocks=2,
    cores=8,
    many=32,
    loop_steps=100,
    loop_rounds=15,
    starts=15,
    releases=("1.15", "2.2", "2.15", "2.21"),
    matrix_rounds=3,
    files=1000,
)
QUICK = Sizes(
    rounds=2,
    steps=2,
    warmup=1,
    batch=16,
    width=32,
    layers=2,
    mlp_batch=16,
    repeats=1,
    blocks=1,
    cores=2,
    many=4,
    loop_steps=5,
    loop_rounds=2,
    starts=2,
    releases=(),
    matrix_rounds=0,
    files=40,
)
