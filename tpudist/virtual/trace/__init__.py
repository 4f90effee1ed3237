"""Analyses the trace of a replica function, a graph.

:mod:`function_graphs` builds it, :mod:`arguments` brings the function's arguments into it, and
:mod:`segments` cuts it at the merges. :mod:`dependencies`, :mod:`effects` and :mod:`collectives`
read its ops.
"""
