"""Code that several tools use and none of them owns: a tool imports no other tool.

The table of TensorFlow releases (:mod:`table`, releases.cfg), what is installed here
(:mod:`installed`), and comparing a value with a recorded one (:mod:`compare`).
No TensorFlow. To change: what one tool alone needs goes into its folder.
"""
