"""tpudist: legacy TPU training code on today's TensorFlow.

Three surfaces, each the API of one era::

    from tpudist.contrib import tensorflow as tf   # TensorFlow 1.11 to 1.15
    from tpudist.v2_0 import tensorflow as tf      # TensorFlow 2.0
    from tpudist.v2_2 import tensorflow as tf      # TensorFlow 2.2

Importing this package does not import TensorFlow; its modules are loaded when
they are first asked for.
"""

import importlib
import pkgutil

__version__ = "1.0.0"


#: {name: module that has it}: what is loaded when it is first asked for.
_FUNCTIONS = {
    "compile_step": "tpudist.tools.compile.step",
    "tpu_refusals": "tpudist.virtual.tpu_check.reports",
    "load_ipython_extension": "tpudist.legacy.notebook",
    "unload_ipython_extension": "tpudist.legacy.notebook",
}


def __getattr__(name):
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(_FUNCTIONS[name]), name)
    if not name.startswith("_"):
        module = __name__ + "." + name
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
    raise AttributeError("module %r has no attribute %r" % (__name__, name))


def __dir__():
    modules = {found.name for found in pkgutil.iter_modules(__path__)}
    return sorted(set(globals()) | modules | set(_FUNCTIONS))
