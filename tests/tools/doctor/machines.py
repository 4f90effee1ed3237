"""Machines for the doctor's tests, as data."""

from tpudist.tools.doctor.environment import Environment

PATH = "/usr/lib/python3/site-packages/tensorflow/__init__.py"

#: Environments in which every release was seen to import and to train.
SOUND = {
    "1.13.2": dict(numpy="1.16.6", protobuf="3.20.3", **{"tensorflow-estimator": "1.13.0"}),
    "1.14.0": dict(
        numpy="1.16.6", protobuf="3.20.3", gast="0.2.2", **{"tensorflow-estimator": "1.14.0"}
    ),
    "1.15.0": dict(
        numpy="1.18.5",
        protobuf="3.20.3",
        gast="0.2.2",
        h5py="2.10.0",
        **{"tensorflow-estimator": "1.15.1"},
    ),
    "2.0.4": dict(numpy="1.18.5", protobuf="3.20.3", gast="0.2.2", h5py="2.10.0"),
    "2.2.3": dict(
        numpy="1.18.5",
        protobuf="3.20.3",
        gast="0.3.3",
        h5py="2.10.0",
        **{"tensorflow-estimator": "2.2.0"},
    ),
    "2.4.4": dict(numpy="1.19.5", protobuf="3.20.3", gast="0.3.3", h5py="2.10.0"),
    "2.6.5": dict(numpy="1.19.5", protobuf="3.19.6", keras="2.6.0"),
    "2.8.4": dict(numpy="1.23.5", protobuf="3.19.6", keras="2.8.0"),
    "2.12.1": dict(numpy="1.24.3", protobuf="4.25.9", keras="2.12.0"),
    "2.15.1": dict(numpy="1.26.4", protobuf="4.25.9", keras="2.15.0", gast="0.7.0"),
    "2.16.2": dict(numpy="1.26.4", protobuf="4.25.9", keras="3.15.1", **{"tf-keras": "2.16.0"}),
    "2.21.0": dict(numpy="2.4.6", protobuf="7.36.2", keras="3.16.0", **{"tf-keras": "2.21.0"}),
    "2.22.0rc0": {"numpy": "2.5.5", "protobuf": "7.36.2", "keras-nightly": "3.16.0.dev"},
}


def keras_package(tensorflow):
    """Which package ``tf.keras`` is on a sound machine."""
    inside = tensorflow.startswith("1.") or tensorflow[:4] in ("2.0.", "2.2.", "2.4.")
    return "tensorflow" if inside else "keras"


def machine(
    tensorflow="2.15.1",
    wheel="tensorflow-cpu",
    distributions=None,
    requires=(),
    variables=None,
    chips=(),
    python="3.11.7",
    **probe,
):
    """A sound machine of a TensorFlow release, with changes.

    Args:
      tensorflow: the release, or None for a machine without.
      wheel: the distribution it came in.
      distributions: what is installed otherwise than on the sound machine;
        None as a version takes a distribution away.
      requires: requirement strings of the wheel.
      variables, chips, python: as in ``Environment``.
      **probe: what the probe says otherwise.
    """
    installed, seen = (
        {},
        dict.fromkeys(("version", "path", "cuda", "keras", "error", "keras_error")),
    )
    if tensorflow:
        installed = dict(SOUND.get(tensorflow, {}), **{wheel: tensorflow})
        seen.update(version=tensorflow, path=PATH, cuda=False, keras=keras_package(tensorflow))
    installed.update(distributions or {})
    seen.update(probe)
    return Environment(
        python=python,
        executable="/usr/bin/python3",
        machine="Linux x86_64",
        distributions={name: version for name, version in installed.items() if version},
        requires={wheel: list(requires)},
        variables=variables or {},
        probe=seen,
        chips=list(chips),
    )


BROKEN = dict(version=None, keras=None)

CHIPS = ["/dev/accel0", "/dev/accel1"]

#: name: (machine, level, check, words of the finding). Every check has a case.
CASES = {
    "no TensorFlow": (
        machine(None),
        "problem",
        "tensorflow_missing",
        'pip install "tpudist[tensorflow]"',
    ),
    "a virtual slice that there is not": (
        machine("2.20.0", variables={"TPUDIST_TPU": "virtual:v3-16"}),
        "problem",
        "virtual_name",
        "one of v3-8, v3-32",
    ),
    "no TensorFlow, Python too new": (
        machine(None, python="3.14.0"),
        "problem",
        "tensorflow_missing",
        "from 3.7 to 3.13",
    ),
    "tensorflow.py in the way": (
        machine("2.15.1", path="/home/me/tensorflow.py", error="AttributeError: no"),
        "problem",
        "tensorflow_shadowed",
        "mv /home/me/tensorflow.py /home/me/my_tensorflow.py",
    ),
    "import fails": (
        machine("2.2.3", error="TypeError: Descriptors", **BROKEN),
        "problem",
        "tensorflow_broken",
        "--force-reinstall tensorflow-cpu==2.2.3",
    ),
    "import is killed": (
        machine(
            "2.15.1", error="import tensorflow ended the process with exit code -4: x", **BROKEN
        ),
        "problem",
        "tensorflow_broken",
        "AVX",
    ),
    "import is slow": (
        machine(
            "2.15.1", error="import tensorflow took more than 180 s", **dict(BROKEN, slow=True)
        ),
        "note",
        "tensorflow_slow",
        "nothing is known to be broken",
    ),
    "keras fails": (
        machine("2.15.1", keras=None, keras_error="ImportError: Keras cannot be imported"),
        "problem",
        "keras_broken",
        "Keras cannot be imported",
    ),
    "1.12": (machine("1.12.3"), "problem", "tensorflow_too_old", "1.13"),
    "two wheels of two releases": (
        machine("2.15.1", distributions={"tensorflow": "2.16.2"}),
        "problem",
        "tensorflow_twice",
        "pip uninstall -y tensorflow tensorflow-cpu && pip install "
        "--no-deps --force-reinstall tensorflow-cpu==2.15.1",
    ),
    "two wheels of one release": (
        machine("2.16.2", distributions={"tensorflow": "2.16.2"}),
        "note",
        "tensorflow_twice",
        "tf-keras",
    ),
    "TPU wheel under a CPU wheel": (
        machine("2.20.0", distributions={"tensorflow-tpu": "2.20.0"}),
        "problem",
        "tensorflow_twice",
        "--force-reinstall tensorflow-tpu==2.20.0",
    ),
    "legacy Keras missing": (
        machine("2.21.0", variables={"TF_USE_LEGACY_KERAS": "1"}, distributions={"tf-keras": None}),
        "problem",
        "legacy_keras_missing",
        'pip install --no-deps "tf-keras==2.21.*"',
    ),
    "Keras 3 alone": (
        machine("2.21.0", distributions={"tf-keras": None}),
        "note",
        "keras_of_the_eras",
        'pip install --no-deps "tf-keras==2.21.*"',
    ),
    "CPU wheel on a TPU VM": (
        machine("2.20.0", chips=CHIPS),
        "problem",
        "chip_without_kernels",
        "ConfigureDistributedTPU",
    ),
    "GPU wheel on a TPU VM": (
        machine("2.20.0", wheel="tensorflow", cuda=True, chips=CHIPS),
        "problem",
        "chip_without_kernels",
        'pip uninstall -y tensorflow && pip install "tpudist[tpu]"',
    ),
    "the TPU VM image's own wheel, perhaps": (
        machine("2.12.1", wheel="tensorflow", chips=CHIPS),
        "note",
        "chip_without_kernels",
        "the wheel that a TPU VM image brings",
    ),
    "runtime unknown": (
        machine("2.8.4", variables={"TPU_NAME": "mine"}),
        "note",
        "runtime_unknown",
        "configure_tpu_version('2.8.0', restart_type='ifNeeded')",
    ),
}

#: name: (TensorFlow, what is otherwise, words of the finding), all of packages_do_not_fit.
MISFITS = {
    "estimator": ("1.15.0", {"tensorflow-estimator": "1.13.0"}, "tensorflow-estimator==1.15.*"),
    "old keras": ("2.15.1", {"keras": "2.12.0"}, 'pip install "keras==2.15.*"'),
    "new keras": ("2.15.1", {"keras": "3.10.0"}, "Keras cannot be imported"),
    "keras 2": ("2.21.0", {"keras": "2.15.0"}, "keras>=3.0"),
    "tf-keras": ("2.16.2", {"tf-keras": "2.21.0"}, '--no-deps "tf-keras==2.16.*"'),
    "protobuf 4": ("2.8.4", {"protobuf": "4.25.9"}, "Descriptors cannot be created directly"),
    "protobuf 7": ("2.20.0", {"protobuf": "7.36.2"}, 'pip install "protobuf<7"'),
    "numpy 1.20": ("2.4.4", {"numpy": "1.20.3"}, "symbolic Tensor"),
    "numpy 2": ("2.15.1", {"numpy": "2.2.6"}, 'pip install "numpy<2"'),
    "h5py 3": ("1.15.0", {"h5py": "3.8.0"}, "'decode'"),
    "gast on 1.14": ("1.14.0", {"gast": "0.7.0"}, "gast==0.2.2"),
    "gast on 2.2": ("2.2.3", {"gast": "0.4.0"}, "gast==0.3.3"),
}
