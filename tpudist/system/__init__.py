"""Finds, starts and describes a TPU: resolver, topology, device assignment, workers.

`cluster` resolves a name and starts its TPU, `named_tpus` remembers those of this process,
`placement` says which replica runs on which cores, `tasks` and `workers` what this process is in a
cluster. To change: how a TPU is found, and what its system is.
"""
