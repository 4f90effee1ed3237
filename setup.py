"""Says what the archives hold that setup.cfg cannot: the guides, the examples and the tests."""

import os
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

GUIDES = os.path.join("examples", "guides")


class BuildWithGuides(build_py):
    """Puts the guides into a wheel, where ``tpudist help`` prints them."""

    def run(self):
        super().run()
        if not getattr(self, "editable_mode", False):
            target = os.path.join(self.build_lib, "tpudist", "guides")
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(GUIDES, target)


class SourcesWithExamples(sdist):
    """Puts the examples, the tests and the pages into a source archive."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for folder in ("examples", "tests", "compat", ".github"):
            target = os.path.join(base_dir, folder)
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(folder, target, ignore=shutil.ignore_patterns("__pycache__"))
        for page in "CHANGELOG.md CITATION.cff CONTRIBUTING.md ruff.toml vulture.toml".split():
            shutil.copy(page, base_dir)


setup(cmdclass={"build_py": BuildWithGuides, "sdist": SourcesWithExamples})
