"""The compiler's time estimate, where it can be told.

``optimal_seconds`` is the sum over all instructions of the time that their
arithmetic or their memory traffic takes at best, without communication. An
instruction that the compiler has no estimate of adds -1. So a negative sum is
a number of such instructions and a fraction, and the fraction is the time if
the time is surely less than a second.
"""

import math

#: Peak FLOP/s (bfloat16) and bytes/s of HBM of one device, from Cloud's pages
#: on each generation; used for no more than an order of magnitude.
PEAKS = {
    "v2": (23e12, 350e9),
    "v3": (61e12, 450e9),
    "v4": (275e12, 1200e9),
    "v5e": (197e12, 819e9),
    "v5p": (459e12, 2765e9),
    "v6e": (918e12, 1640e9),
    "tpu7x": (1150e12, 3690e9),
}

#: "Surely": at peak rates it takes less than the first, in seconds, and the
#: fraction is less than the second.
_SURELY, _AT_MOST = 0.2, 0.8

#: The sum is a float32: so many of its smallest steps make a number to report.
_STEPS = 10


def seconds(optimal, flops, bytes_accessed, generation):
    """The time of one step on one device, None where it is unknown.

    Args:
      optimal: the compiler's ``optimal_seconds``, or None.
      flops, bytes_accessed: its other two numbers, or None.
      generation: a key of ``slices.GENERATIONS``.
    """
    if optimal is None or optimal >= 0 or flops is None or bytes_accessed is None:
        return optimal if optimal is None or optimal >= 0 else None
    peak_flops, bandwidth = PEAKS[generation]
    found = optimal - math.floor(optimal)
    certain = flops / peak_flops + bytes_accessed / bandwidth < _SURELY
    exact = _STEPS * 2.0**-23 * -optimal < found < _AT_MOST
    return found if certain and exact else None
