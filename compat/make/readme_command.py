"""Prints one of README's two commands, so that CI runs what users read.

python compat/make/readme_command.py main|test
"""

import pathlib
import re
import sys

README = pathlib.Path(__file__).resolve().parent.parent.parent / "README.md"


def commands():
    """{"main": ..., "test": ...}: the first two shell blocks of README."""
    blocks = re.findall(r"```sh\n(.*?)```", README.read_text("utf-8"), re.S)
    return {"main": blocks[0].strip(), "test": blocks[1].strip()}


if __name__ == "__main__":
    print(commands()[sys.argv[1]])
