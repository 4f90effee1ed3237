"""Traces one replica's step with a symbolic replica id, and lowers it to HLO.

One trace stands for all replicas of a virtual TPU, as on the chip, and its collectives
are ops.

* :mod:`tracing`: traces a step; :mod:`symbolic_replicas` is the strategy meanwhile.
* :mod:`recording`: traces the functions that a script runs.
* :mod:`to_hlo`: lowers a traced step; :mod:`refusals` explains its errors.
* :mod:`graph_ops`: the collectives of a graph, and the user's lines of its ops.

Importing this package imports no TensorFlow; most of its modules do.
"""
