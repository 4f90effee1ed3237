"""Passes pip's configuration of package indexes on to uv.

uv does not read pip's configuration (https://docs.astral.sh/uv/pip/compatibility/),
so it would not use the mirror or company index that pip uses.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from typing import Mapping

#: uv's own settings of indexes; if one is set, pip's are not read.
OWN = (
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_NO_INDEX",
    "UV_CONFIG_FILE",
)

#: {pip's option: (uv's variable, what joins several values)}.
#: https://pip.pypa.io/en/stable/cli/pip_install/,
#: https://docs.astral.sh/uv/reference/environment/
_VARIABLES = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "no-index": ("UV_NO_INDEX", " "),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", " "),
}


def given_to_uv(project: str, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables that uv runs with: this process', and pip's indexes if uv has none."""
    environ = dict(os.environ if environ is None else environ)
    if not any(name in environ for name in OWN) and not _has_settings(project, environ):
        for name, value in translated(_pip_configuration()).items():
            environ.setdefault(name, value)
    return environ


def _has_settings(project: str, environ: Mapping[str, str]) -> bool:
    """Whether a file names indexes to uv (https://docs.astral.sh/uv/concepts/configuration-files/)."""
    home = environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    user = environ.get("APPDATA", home) if os.name == "nt" else home
    folders = [project, os.path.join(user, "uv"), "/etc/uv"]
    if any(os.path.exists(os.path.join(folder, "uv.toml")) for folder in folders):
        return True
    try:
        with open(os.path.join(project, "pyproject.toml"), encoding="utf-8") as file:
            return bool(re.search(r"^\[+tool\.uv\b", file.read(), re.M))
    except OSError:
        return False


def _pip_configuration() -> str:
    """The output of ``pip config list``; empty if there is no pip."""
    for pip in ([sys.executable, "-m", "pip"], [shutil.which("pip") or "pip"]):
        try:
            return subprocess.check_output(
                pip + ["config", "list"], universal_newlines=True, stderr=subprocess.DEVNULL
            )
        except (OSError, subprocess.CalledProcessError):
            continue
    return ""


def translated(text: str) -> dict[str, str]:
    """uv's variables for what ``pip config list`` prints, ``global.index-url='https://x/simple'``.

    For each option the environment's value counts first, then ``install``, then ``global``.
    """
    settings = {}
    for section in ("global", "install", ":env:"):
        for name, value in re.findall(r"^%s\.([\w-]+)=(.*)$" % re.escape(section), text, re.M):
            if name in _VARIABLES:
                settings[name] = str(ast.literal_eval(value)).split()
    variables = {_VARIABLES[name][0]: _VARIABLES[name][1].join(settings[name]) for name in settings}
    if "UV_INDEX" in variables:
        variables["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return {name: value for name, value in variables.items() if value}
