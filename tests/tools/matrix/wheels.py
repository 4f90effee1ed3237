"""Fake wheels and a user's project, so that environments need neither network nor TensorFlow."""

import sys
import zipfile

PYTHON = "%d.%d" % sys.version_info[:2]

_BACKEND = '''
"""A build backend without dependencies: an editable wheel is a .pth file."""
import os, zipfile

def get_requires_for_build_editable(config_settings=None):
    return []

def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    name = "usersproject-1-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        wheel.writestr("usersproject.pth", os.getcwd())
        wheel.writestr("usersproject-1.dist-info/METADATA",
                       "Metadata-Version: 2.1\\nName: usersproject\\nVersion: 1\\n"
                       "Requires-Dist: tensorflow>=1\\n")
        wheel.writestr("usersproject-1.dist-info/WHEEL",
                       "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("usersproject-1.dist-info/RECORD", "")
    return name
'''

_PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "usersproject"
version = "1"
dependencies = ["tensorflow>=1"]
"""


def wheel(folder, name, version, modules=()):
    """Writes a pure Python wheel.

    Args:
      folder: a pathlib folder.
      name, version: of the distribution.
      modules: {file name: text}.
    """
    stem = "%s-%s" % (name.replace("-", "_"), version)
    with zipfile.ZipFile(str(folder / (stem + "-py3-none-any.whl")), "w") as file:
        for module, text in dict(modules).items():
            file.writestr(module, text)
        file.writestr(
            stem + ".dist-info/METADATA",
            "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version),
        )
        file.writestr(
            stem + ".dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        file.writestr(stem + ".dist-info/RECORD", "")


def wheelhouse(folder):
    """A folder of wheels: two TensorFlows, one that lies, and what goes beside them."""
    folder.mkdir()
    for version in ("9.1.0", "9.2.3"):
        wheel(folder, "tensorflow-cpu", version, {"tensorflow.py": "__version__ = %r\n" % version})
    wheel(folder, "tensorflow-cpu", "9.3.0", {"tensorflow.py": "__version__ = '9.2.0'\n"})
    wheel(folder, "tensorflow-cpu", "9.4.0", {"tensorflow.py": "raise ImportError('no libcuda')\n"})
    for name in ("pytest", "tpudist", "extra-thing"):
        wheel(folder, name, "1.0", {name.replace("-", "_") + "_is_here.py": ""})
    return folder


def project(folder):
    """A user's project that asks for TensorFlow under another name than the table."""
    folder.mkdir()
    (folder / "backend.py").write_text(_BACKEND)
    (folder / "pyproject.toml").write_text(_PYPROJECT)
    (folder / "mine.py").write_text("value = 1\n")
    return folder


def table(path, *releases):
    """A table of releases, each on this Python."""
    path.write_text(
        "".join(
            "[%s]\npython = %s\nrequirement = tensorflow-cpu==%s\nenvironment =\n    ROW=of %s\n"
            % (name, PYTHON, version, name)
            for name, version in releases
        )
    )
    return path
