"""The verbs: ``tpudist compile``, and ``tpudist run --compile``.

* :mod:`compile_command`: compiles a step of a file; with :mod:`user_file`, which executes
  the file, and :mod:`fit`, which searches for the largest batch.
* :mod:`run_command`: compiles all functions that a script runs on replicas; with
  :mod:`replica_calls`, which finds their calls in its source.
* :mod:`gate`: writes reports, and compares them with limits and earlier reports.
"""
