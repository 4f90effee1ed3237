"""Distributed datasets: one input pipeline per host, whose batches go to the host's replicas."""
