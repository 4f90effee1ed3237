"""Analyses the trace of a replica function, a graph.

:mod:`function_graphs` builds it, with the function's arguments, and :mod:`segments` cuts it at the
merges. :mod:`dependencies` and :mod:`collectives` read its ops.
"""
