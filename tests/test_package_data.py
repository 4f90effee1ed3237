"""A wheel has the files of the package that are no Python: setup.cfg lists them."""

import configparser
import os
import pathlib

from tests import ROOT

PACKAGE = pathlib.Path(ROOT, "tpudist")


def listed():
    """The patterns of setup.cfg, below the package."""
    config = configparser.ConfigParser()
    config.read(os.path.join(ROOT, "setup.cfg"), "utf-8")
    return config["options.package_data"]["tpudist"].split()


def test_every_listed_file_is_there():
    assert [pattern for pattern in listed() if not list(PACKAGE.glob(pattern))] == []


def test_every_file_is_listed():
    files = {path for path in PACKAGE.rglob("*") if path.is_file()}
    wanted = {path for path in files if path.suffix not in (".py", ".pyc")}
    matched = {path for pattern in listed() for path in PACKAGE.glob(pattern)}
    assert {str(path.relative_to(PACKAGE)) for path in wanted - matched} == set()
