"""Pins: values that a test recorded once and compares from then on.

A pytest plugin with a ``pin`` fixture (:mod:`tpudist.tools.pins.fixture`), and
``tpudist pins report``. Importing this package, and having the plugin
installed, imports neither TensorFlow nor numpy.
To change: what a value is recorded as (:mod:`values`) and when it agrees (:mod:`compare`).
"""

#: A test module's pins are in a file of its name with this ending, beside it.
SUFFIX = ".pins.json"
