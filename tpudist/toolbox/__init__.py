"""What several tools use, and none of them owns: a tool imports no other tool.

The table of TensorFlow releases (:mod:`table`, releases.cfg), what is installed here
(:mod:`installed`), comparing a value with a recorded one (:mod:`compare`), and the frame of HTML
pages (:mod:`html_page`). No TensorFlow. To change: what one tool alone needs goes into its folder.
"""
