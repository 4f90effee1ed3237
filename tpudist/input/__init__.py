"""Distributed datasets: batches for hosts and replicas, on either TPU and every release.

`distributed_datasets` splits global batches, as 2.x has them; `per_replica_datasets` gives each
replica batches of its own, as contrib has them. To change: which examples a replica gets.
"""
