"""The verbs: ``tpudist compile``, and ``tpudist run --compile``.

* :mod:`compile_command`: executes a file and compiles a step of it; with :mod:`fit`, which
  searches for the largest batch.
* :mod:`run_command`: compiles all functions that a script runs on replicas.
* :mod:`gate`: writes reports, and compares them with limits and earlier reports.
"""
