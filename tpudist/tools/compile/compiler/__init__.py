"""Compiles a lowered step with libtpu, in a process of its own, and builds the report.

* :mod:`compilation`: compiles a program for a slice; what the command and the API call.
* :mod:`libtpu`, :mod:`topologies`: find the compiler, and describe slices to it.
* :mod:`process`, :mod:`worker`: the process that loads libtpu.
* :mod:`answers`, :mod:`out_of_memory`: reduce its answer, and read its messages.
* :mod:`report_builder`: builds the report from the program and that answer.
"""
