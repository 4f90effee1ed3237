"""Finds the era that a file or a program was written for.

`tpudist run` and `tpudist migrate` ask it. It reads source
and the table of names (`tpudist.surfaces`), runs nothing, imports no TensorFlow.
To change: what is evidence, in `evidence`; of which era it is, in `names`; which
of several eras is meant, in `decisions.decide`.
"""
