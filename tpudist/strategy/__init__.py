"""Strategies and replicas, on every TPU.

`base_classes` has what a facade's strategy derives from, `contexts` checks where a call is made and
what it is given, `replica_values` is what a replica function takes and returns.
To change: what a call may be given, and where.
"""
