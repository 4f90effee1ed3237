"""Distributes datasets: one input pipeline per host, whose batches go to the host's replicas.

:mod:`inputs` chooses. :mod:`iterators` gives each host one iterator (:mod:`host_iterators`);
:mod:`global_batches` divides the batches of one pipeline among all replicas.
"""
