"""Which numbers each replica draws.

They depend on the seed, the op and the replica, and are those that
MirroredStrategy draws: TensorFlow numbers the ops without a seed of their own
in the graph that calls ``run``, first all of replica 0, then all of replica 1,
up to where the replicas meet; then it goes on behind the merge. An op that was
given a seed draws the same on every replica.
"""

import bisect

from tpudist.tfcompat import random_seeds


def number(program):
    """Numbers the random ops of a program, for each replica.

    Args:
      program: the traced `Program`, which is about to be called.

    Returns:
      {op of the trace: [its number per replica]}. The ops of merges, which
      run once, are given their numbers.
    """
    counted = random_seeds.numbered(program.graph)
    positions = [merge.position for merge in program.merges]
    numbers = {}
    for segment, merge in enumerate(program.merges + [None]):
        ops = [op for place, op in counted if bisect.bisect_right(positions, place) == segment]
        for op in ops * program.num_replicas:
            numbers.setdefault(op, []).append(random_seeds.next_number(program.outer))
        for _, op in random_seeds.numbered(merge.graph) if merge else ():
            made = random_seeds.next_number(program.outer)
            if op is not None:
                random_seeds.renumber(op, made)
    return numbers
