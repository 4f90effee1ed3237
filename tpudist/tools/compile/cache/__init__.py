"""Keeps what was compiled: the compiler's answers, and whole runs of ``tpudist compile``.

* :mod:`store`: the files, and the limit on their size.
* :mod:`runs`: a run is repeated without TensorFlow while nothing that it read has changed.
* :mod:`file_reads`: records the files that a run reads.
* :mod:`source_names`: searches the program's source for reads that cannot be recorded.
"""
