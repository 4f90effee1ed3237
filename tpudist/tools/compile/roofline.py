"""What bounds an op: computing, the device's memory, or the network. No time is told.

``optimal_seconds`` of the compiler leaves out instructions and rounds of loops, and
a sum of rooflines was not held against step times of real slices.
"""

#: Peak FLOP/s (bfloat16) and bytes/s of HBM of one device: cloud.google.com/tpu/docs/v2,
#: v3, v4, v5e, v5p, v6e, tpu7x, "System architecture"; of v2, v3 and tpu7x half a chip's.
PEAKS = {
    "v2": (23e12, 350e9),
    "v3": (61.5e12, 450e9),
    "v4": (275e12, 1200e9),
    "v5e": (197e12, 819e9),
    "v5p": (459e12, 2765e9),
    "v6e": (918e12, 1640e9),
    "tpu7x": (1153e12, 3690e9),
}


def bound(flops, moved, sent, generation):
    """What an op's time would be at the peaks of the chip: "compute", "memory" or "network".

    Args:
      flops: of the op.
      moved: bytes to and from the device's memory.
      sent: bytes that it puts into collectives.
      generation: a key of ``slices.GENERATIONS``.

    Returns:
      The name; "" of an op that does none of it.
    """
    if sent:
        return "network"
    peak_flops, bandwidth = PEAKS[generation]
    computing, moving = flops / peak_flops, moved / bandwidth
    if not computing and not moving:
        return ""
    return "compute" if computing >= moving else "memory"
