"""Compiles a lowered step with libtpu, in a process of its own, and builds the report.

* :mod:`compilation`: compiles a program for a slice; what the command and the API call.
* :mod:`libtpu`: finds the compiler, and asks it in a process of its own, the :mod:`worker`.
* :mod:`report_builder`: builds the report from the program and the worker's answer.
"""
