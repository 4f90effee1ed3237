"""Traces one replica's step with a symbolic replica id, and lowers it to HLO.

One trace stands for all replicas of a virtual TPU, as on the chip, and its collectives
are ops.
"""
