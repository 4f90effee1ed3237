"""Runs one of TensorFlow's own test files with a virtual TPU in place of the TPU.

    python compat/make/tensorflow_tests.py CHECKOUT FILE [--era 2.2] [--tpu virtual:2] [--only TEXT]

CHECKOUT is a checkout of TensorFlow of about the installed release; FILE the name of a
file below it, ``tensorflow/python/distribute/zero_batch_test.py``. Only tests that make
a TPU strategy count. A line per test that fails, unless it stands in
``tensorflow_tests.txt`` with the reason: it differs; then a line that counts them. With
``--json`` all of it is written to a file. ``TENSORFLOW_TESTS.md`` has what came of it.
"""

import argparse
import fnmatch
import importlib
import json
import os
import sys
import types
import unittest


def overlays(era, made):
    """What stands in for names of TensorFlow in test modules: {module: {name: object}}.

    Args:
      era: "contrib", "2.0" or "2.2": the surface whose strategies are made.
      made: a list that each strategy that is made is appended to.
    """
    tf = importlib.import_module(
        "tpudist.%s.tensorflow" % {"contrib": era}.get(era, "v" + era.replace(".", "_"))
    )
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver
    facade = tf.contrib.distribute.TPUStrategy if era == "contrib" else tf.distribute.TPUStrategy

    class TPUStrategy(facade):
        """The surface's strategy, as a test makes it."""

        def __init__(self, cluster=None, *args, **unused_options):
            from tpudist import adapter

            steps = args[0] if args and isinstance(args[0], int) else None
            rest = [arg for arg in args if not isinstance(arg, int)]
            rest += [each for name, each in unused_options.items() if "assignment" in name]
            made.append(self)
            adapter.initialize(
                self, cluster or resolver(""), *(rest or [None])[:1], steps_per_run=steps
            )
            self.extended._tpu_devices = self.extended.worker_devices  # tests read it

    class _AnyExtended(type):
        def __instancecheck__(cls, each):
            return type(each).__name__ in ("TPUExtended", "VirtualExtended")

    started = {"initialize_tpu_system": tf.tpu.experimental.initialize_tpu_system}
    more = {}
    if era == "contrib":
        start, stop = tf.contrib.tpu.initialize_system, tf.contrib.tpu.shutdown_system
        more["tpu"] = {"initialize_system": start, "shutdown_system": stop}
    return {
        **more,
        "tpu_strategy": {
            "TPUStrategy": TPUStrategy,
            "TPUStrategyV1": TPUStrategy,
            "TPUStrategyV2": TPUStrategy,
            "TPUExtended": _AnyExtended("TPUExtended", (), {}),
        },
        "tpu_cluster_resolver": dict(started, TPUClusterResolver=resolver),
        "tpu_strategy_util": started,
        "remote": {"connect_to_cluster": tf.config.experimental_connect_to_cluster},
        "device_assignment": {"DeviceAssignment": tf.tpu.experimental.DeviceAssignment},
    }


class _Overlay(types.ModuleType):
    def __init__(self, module, names):
        super().__init__(module.__name__)
        self.__dict__.update(names)
        self._module = module

    def __getattr__(self, name):
        return getattr(self._module, name)


def lay_over(module, names):
    """Gives `module` the stand-ins for what it imported."""
    for name, value in list(vars(module).items()):
        if isinstance(value, types.ModuleType) and value.__name__.split(".")[-1] in names:
            setattr(module, name, _Overlay(value, names[value.__name__.split(".")[-1]]))


class Results(unittest.TestResult):
    """Collects {test: [result, reason]} of the tests in which a strategy was made."""

    def __init__(self, made):
        super().__init__()
        self.made, self.imported, self.all = made, len(made), {}

    def startTest(self, test):
        """Forgets the strategies of the test before; those made by imports serve all tests."""
        del self.made[self.imported :]
        super().startTest(test)

    def _note(self, test, result, reason=""):
        if self.made:
            self.all.setdefault(test.id().split(".", 1)[1], [result, reason])

    def addSuccess(self, test):
        """See the base class."""
        self._note(test, "passed")

    def addFailure(self, test, err):
        """See the base class."""
        self._note(test, "failed", self._exc_info_to_string(err, test))

    addError = addFailure

    def addSubTest(self, test, subtest, err):
        """See the base class."""
        if err is not None:
            self._note(test, "failed", self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        """See the base class."""
        if "doesn't require" not in reason:
            self._note(test, "skipped", reason)


def load(checkout, path, v1, names):
    """The test module at `path` below `checkout`, with the stand-ins in place."""
    import tensorflow

    package = os.path.dirname(path).replace(os.sep, ".")
    for each in ("tensorflow.python.framework", package):  # what the wheel leaves out
        found = importlib.import_module(each)
        found.__path__.append(os.path.join(checkout, each.replace(".", os.sep)))
    with open(os.path.join(checkout, path)) as file:
        source = file.read()
    if "enable_v2_behavior()" in source:
        tensorflow.compat.v1.enable_v2_behavior()
    elif v1:
        tensorflow.compat.v1.disable_v2_behavior()
    if "contrib" in package:  # its combinations make strategies while they are imported
        native = importlib.import_module(package + ".tpu_strategy")
        found.tpu_strategy = _Overlay(native, names["tpu_strategy"])
    for sibling in ("strategy_combinations", "combinations"):
        try:
            lay_over(importlib.import_module("%s.%s" % (package, sibling)), names)
        except ImportError:
            continue
    module = types.ModuleType(os.path.basename(path)[:-3])
    module.__file__ = os.path.join(checkout, path)
    sys.modules[module.__name__] = module
    exec(compile(source, module.__file__, "exec"), module.__dict__)
    lay_over(module, names)
    for name in ("strategy_test_lib", "test_util"):
        lay_over(getattr(module, name, module), names)
    return module


def differences():
    """The patterns of tests that are known to give something else."""
    with open(os.path.splitext(os.path.abspath(__file__))[0] + ".txt") as lines:
        return [line.strip() for line in lines if line.strip() and line[0] not in "# "]


def known(path, test, patterns):
    """Whether a `test` of the file at `path` is listed by one of the `patterns`."""
    name = os.path.splitext(os.path.basename(path))[0] + "::" + test
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def selected(suite, only):
    """The tests of `suite` whose id has the text `only`."""
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from selected(each, only)
        elif only in each.id():
            yield each


def main(argv=None):
    """Runs the file; 1 if a test does not pass."""
    parser = argparse.ArgumentParser()
    parser.add_argument("checkout")
    parser.add_argument("path")
    parser.add_argument("--era", default="2.2", choices=["contrib", "2.0", "2.2"])
    parser.add_argument("--tpu", default="virtual:2")
    parser.add_argument("--only", default="")
    parser.add_argument("--v1", action="store_true", help="TensorFlow 1's behavior")
    parser.add_argument("--json")
    options = parser.parse_args(argv)
    os.environ["TPUDIST_TPU"] = options.tpu
    sys.argv[:] = ["test_tpu"]  # what combinations of a TPU ask for
    from absl import flags

    made = []
    module = load(options.checkout, options.path, options.v1, overlays(options.era, made))
    flags.FLAGS(sys.argv)
    results = Results(made)
    tests = unittest.defaultTestLoader.loadTestsFromModule(module)
    unittest.TestSuite(selected(tests, options.only)).run(results)
    patterns = differences()
    for name, found in sorted(results.all.items()):
        result, reason = found
        if result == "failed" and known(options.path, name, patterns):
            found[0] = "differs"
        elif result == "failed":
            print("%s: %s" % (name, reason.strip().split("\n")[-1][:300]))
    counts = [each for each, _ in results.all.values()]
    print(options.path, {each: counts.count(each) for each in sorted(set(counts))})
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results.all, file, indent=1, sort_keys=True)
    return int("failed" in counts)


if __name__ == "__main__":
    sys.exit(main())
