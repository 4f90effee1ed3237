"""Batched values: what stands for a tensor of a trace, for all replicas, in each of its forms."""
