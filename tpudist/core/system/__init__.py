"""Finds, starts and describes a TPU: resolver, topology, device assignment, workers."""
