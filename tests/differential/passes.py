"""Which pass of TensorFlow's optimizer a difference depends on.

    python -m tests.differential.passes --mode function --replicas 2 --program "{...}"

runs the program once with the optimizer at its default, once without each pass and once without
any, each in a process of its own, and prints on which the engines agree.
"""

import sys

import tensorflow as tf

from tests.differential.processes import run_driver

#: What is left out: a pass, by its name in ``tf.config.optimizer`` and in a session's
#: ``RewriterConfig``, or all of them.
ALL = "disable_meta_optimizer"
PASSES = (
    """arithmetic_optimization constant_folding dependency_optimization function_optimization
layout_optimizer loop_optimization memory_optimization pin_to_host_optimization remapping
scoped_allocator_optimization shape_optimization""".split()
    + ["disable_model_pruning", ALL]
)

_sessions = []


def leave_out_of_functions(name):
    """Leaves a pass out of what functions of this process are optimised by; None leaves all in.

    The pass that saves memory is one of sessions alone.
    """
    if name and name != "memory_optimization":
        tf.config.optimizer.set_experimental_options({name: name.startswith("disable")})


def leave_out_of_sessions(name):
    """Leaves a pass out of what `session_config` says; None leaves all in."""
    _sessions[:] = [name] if name else []


def session_config(count):
    """The ``ConfigProto`` of a session of so many logical CPU devices."""
    config = tf.compat.v1.ConfigProto(device_count={"CPU": count})
    options = config.graph_options.rewrite_options
    for name in _sessions:
        if name.startswith("disable"):
            setattr(options, name, True)
        else:  # OFF, and NO_MEM_OPT of the one that saves memory
            setattr(options, name, 1 if name == "memory_optimization" else 2)
    return config


def main(arguments):
    """Prints which passes matter; 0 if the engines agree with the optimizer at its default."""
    found = {}
    for name in [None] + PASSES:
        without = ["--without", name] if name else []
        found[name] = run_driver(*arguments, *without).returncode
        said = "differs" if found[name] else "agrees"
        print("%-8s %s" % (said, "without " + name if name else "at the default"), flush=True)
    return found[None]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
