"""Machines for the doctor's tests, as data."""

from tpudist.doctor.environment import Environment

PATH = "/usr/lib/python3/site-packages/tensorflow/__init__.py"

#: Environments in which every release was seen to import and to train.
SOUND = {
    "1.13.2": dict(numpy="1.16.6", protobuf="3.20.3", **{"tensorflow-estimator": "1.13.0"}),
    "1.14.0": dict(numpy="1.16.6", protobuf="3.20.3", gast="0.2.2",
                   **{"tensorflow-estimator": "1.14.0"}),
    "1.15.0": dict(numpy="1.18.5", protobuf="3.20.3", gast="0.2.2", h5py="2.10.0",
                   **{"tensorflow-estimator": "1.15.1"}),
    "2.0.4": dict(numpy="1.18.5", protobuf="3.20.3", gast="0.2.2", h5py="2.10.0"),
    "2.2.3": dict(numpy="1.18.5", protobuf="3.20.3", gast="0.3.3", h5py="2.10.0",
                  **{"tensorflow-estimator": "2.2.0"}),
    "2.4.4": dict(numpy="1.19.5", protobuf="3.20.3", gast="0.3.3", h5py="2.10.0"),
    "2.6.5": dict(numpy="1.19.5", protobuf="3.19.6", keras="2.6.0"),
    "2.8.4": dict(numpy="1.23.5", protobuf="3.19.6", keras="2.8.0"),
    "2.12.1": dict(numpy="1.24.3", protobuf="4.25.9", keras="2.12.0"),
    "2.15.1": dict(numpy="1.26.4", protobuf="4.25.9", keras="2.15.0", gast="0.7.0"),
    "2.16.2": dict(numpy="1.26.4", protobuf="4.25.9", keras="3.15.1",
                   **{"tf-keras": "2.16.0"}),
    "2.21.0": dict(numpy="2.4.6", protobuf="7.36.2", keras="3.16.0"),
    "2.22.0rc0": {"numpy": "2.5.5", "protobuf": "7.36.2", "keras-nightly": "3.16.0.dev"},
}


def keras_package(tensorflow):
    """Which package ``tf.keras`` is on a sound machine."""
    inside = tensorflow.startswith("1.") or tensorflow[:4] in ("2.0.", "2.2.", "2.4.")
    return "tensorflow" if inside else "keras"


def machine(tensorflow="2.15.1", wheel="tensorflow-cpu", distributions=None, requires=(),
            variables=None, chips=(), runtime=None, python="3.11.7", **probe):
    """A sound machine of a TensorFlow release, with changes.

    Args:
      tensorflow: the release, or None for a machine without.
      wheel: the distribution it came in.
      distributions: what is installed otherwise than on the sound machine;
        None as a version takes a distribution away.
      requires: requirement strings of the wheel.
      variables, chips, runtime, python: as in ``Environment``.
      **probe: what the probe says otherwise.
    """
    installed, seen = {}, dict.fromkeys(
        ("version", "path", "cuda", "keras", "error", "keras_error"))
    if tensorflow:
        installed = dict(SOUND.get(tensorflow, {}), **{wheel: tensorflow})
        seen.update(version=tensorflow, path=PATH, cuda=False, keras=keras_package(tensorflow))
    installed.update(distributions or {})
    seen.update(probe)
    return Environment(
        python=python, executable="/usr/bin/python3", machine="Linux x86_64",
        distributions={name: version for name, version in installed.items() if version},
        requires={wheel: list(requires)}, variables=variables or {}, probe=seen,
        chips=list(chips), runtime=runtime)
