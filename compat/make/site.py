"""Builds a static site of the pages, the guides and the reference.

    python -m compat.make.site [FOLDER]

needs the extra ``docs``. The site is written into FOLDER (``build/site``), with search, and opens
without a server or a network. A page that links to nothing ends it with an error, and so does a
name of the reference that is not there.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from compat.make import stable
from tests import ROOT

#: {title: file}; the guides are below "Guides", in the order in which one needs them.
PAGES = {
    "tpudist": "README.md",
    "Names": "compat/SURFACES.md",
    "What is stable": "compat/STABLE.md",
    "Exceptions": "compat/README.md",
    "Public programs": "compat/PROGRAMS.md",
    "Migrated programs": "compat/MIGRATED.md",
    "Public bug reports": "compat/REPORTS.md",
    "Figures": "compat/FIGURES.md",
    "Clusters": "compat/CLUSTERS.md",
    "Releases": "compat/MATRIX.md",
    "Compiled programs": "compat/COMPILE.md",
    "TensorFlow's tests": "compat/TENSORFLOW_TESTS.md",
    "Long proofs": "compat/NIGHTLY.md",
    "Release check": "compat/RELEASE.md",
    "Changes": "CHANGELOG.md",
    "Contributing": "CONTRIBUTING.md",
}
GUIDES = (
    *("run", "tensorflow_1", "tensorflow_2", "migrate", "public_program", "pins"),
    *(
        "virtual_tpu",
        "how_it_works",
        "many_machines",
        "cluster_jobs",
        "compiler",
        "real_tpu",
        "numbers",
        "troubleshooting",
    ),
)

#: {page of the reference: (title, what it documents)}.
REFERENCE = {
    "contrib": ("tpudist.contrib", ["tpudist.contrib.strategy", "tpudist.contrib.context"]),
    "v2_0": ("tpudist.v2_0", ["tpudist.v2_0.strategy"]),
    "v2_2": ("tpudist.v2_2", ["tpudist.v2_2.strategy", "tpudist.v2_2.context"]),
    "pins": ("The fixture pin", ["tpudist.tools.pins.fixture.Pin"]),
    "compile": ("tpudist.compile_step", ["tpudist.tools.compile.step"]),
    "errors": ("Errors", ["tpudist.errors"]),
}


#: A link within the checkout, as Markdown or as HTML.
_LINK = re.compile(r"(?:\]\(|href=\")([^:#)\"]+)")

#: The first line of a block of code that is a file: what GitHub takes for a comment, and Python's
#: Markdown for the begin of a paragraph.
_NAMED_BLOCK = re.compile(r"^(```\w+) (\S+)$", re.M)


def main(argv=None):
    """Builds the site; returns mkdocs' exit code."""
    argv = sys.argv[1:] if argv is None else argv
    target = os.path.abspath(argv[0] if argv else os.path.join(ROOT, "build", "site"))
    with tempfile.TemporaryDirectory() as folder:
        docs = os.path.join(folder, "docs")
        for path in pages():
            copied = os.path.join(docs, path)
            os.makedirs(os.path.dirname(copied), exist_ok=True)
            shutil.copy(os.path.join(ROOT, path), copied)
            if path.endswith(".md"):
                _entitle_blocks(copied)
        written = dict(reference(), **{"reference/commands.md": commands()})
        for path, text in written.items():
            os.makedirs(os.path.join(docs, "reference"), exist_ok=True)
            with open(os.path.join(docs, path), "w", encoding="utf-8") as file:
                file.write(text)
        config = os.path.join(folder, "mkdocs.yml")
        with open(config, "w", encoding="utf-8") as file:
            json.dump(configuration(docs, target), file)  # JSON is YAML, too
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
        environ = dict(os.environ, NO_MKDOCS_2_WARNING="1")
        return subprocess.call(command + ["--config-file", config], env=environ)


def pages():
    """The paths of what is copied as it is: pages, guides, and the files that they link to."""
    guides = ["examples/guides/%s.md" % name for name in guides_in_order()]
    found = [*PAGES.values(), *guides]
    return found + sorted({each for path in found for each in _linked(path)} - set(found))


def _linked(page):
    """The files of the checkout that a page links to."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        links = _LINK.findall(file.read())
    for link in links:
        path = os.path.normpath(os.path.join(os.path.dirname(page), link))
        if os.path.isfile(os.path.join(ROOT, path)):
            yield path.replace(os.sep, "/")


def _entitle_blocks(page):
    """Writes the names of files above the blocks of a copied page as mkdocs wants titles."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    with open(page, "w", encoding="utf-8") as file:
        file.write(_NAMED_BLOCK.sub(r'\1 title="\2"', text))


def guides_in_order():
    """The names of all guides: those of `GUIDES`, then any other."""
    names = os.listdir(os.path.join(ROOT, "examples", "guides"))
    names = sorted(name[: -len(".md")] for name in names if name.endswith(".md"))
    return sorted(names, key=lambda name: GUIDES.index(name) if name in GUIDES else len(GUIDES))


def reference():
    """{path: text} of the pages that mkdocstrings fills from docstrings."""
    return {
        "reference/%s.md" % name: "# %s\n\n" % title + "".join("::: %s\n\n" % each for each in of)
        for name, (title, of) in REFERENCE.items()
    }


def commands():
    """The page of the commands: what ``--help`` prints of each."""
    parts = ["# Commands\n"]
    for name, parser in stable.commands().items():
        parts.append("\n## tpudist %s\n\n```\n%s```\n" % (name, parser.format_help()))
    return "".join(parts)


def configuration(docs, target):
    """What mkdocs is told: folders, the order of pages, and how docstrings are written."""
    titles = dict(PAGES)
    first = {"tpudist": titles.pop("tpudist")}
    options = {
        "docstring_style": "google",
        "docstring_options": {"warnings": False},
        "show_source": False,
        "show_root_heading": True,
        "show_if_no_docstring": False,
        "inherited_members": True,
        "filters": ["!^_"],
        "heading_level": 2,
    }
    handler = {"paths": [ROOT], "options": options}
    return {
        "site_name": "tpudist",
        "docs_dir": docs,
        "site_dir": target,
        "use_directory_urls": False,
        "theme": {"name": "material", "font": False},
        "plugins": ["search", {"mkdocstrings": {"handlers": {"python": handler}}}],
        "markdown_extensions": ["tables", "toc", "pymdownx.highlight", "pymdownx.superfences"],
        "validation": {"links": {"not_found": "warn", "anchors": "warn"}},
        "nav": [
            first,
            {"Guides": ["examples/guides/%s.md" % name for name in guides_in_order()]},
            {
                "Reference": ["reference/commands.md"]
                + [{title: "reference/%s.md" % name} for name, (title, _) in REFERENCE.items()]
            },
            {"Compatibility": [{title: path} for title, path in titles.items()]},
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
