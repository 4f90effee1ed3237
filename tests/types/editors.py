"""What a checker or an editor says of a user's files, where tpudist is installed."""

import json
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import venv

from tests.types import checkers


def environment(folder, packages):
    """The Python of an environment with this checkout's tpudist and some packages.

    Args:
      folder: a pathlib.Path, where it is made.
      packages: names of packages of this environment; None for all of them.
    """
    venv.create(str(folder), with_pip=False)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    here = pathlib.Path(sysconfig.get_paths()["purelib"])
    places = [checkers.ROOT, str(here)]
    if packages is not None:
        places[1] = str(folder / "packages")
        os.mkdir(places[1])
        for name in packages:
            os.symlink(str(here / name), os.path.join(places[1], name))
    ask = [str(python), "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    site = subprocess.run(ask, stdout=subprocess.PIPE, text=True, check=True)
    pathlib.Path(site.stdout.strip(), "places.pth").write_text("\n".join(places) + "\n")
    return str(python)


def mypy(folder, python):
    """Lines of what mypy says of all files of a folder, in its default settings."""
    return _output(
        [sys.executable, "-m", "mypy", "--config-file=", "--no-error-summary"]
        + ["--cache-dir", os.devnull, "--python-executable", python, "."],
        folder,
    ).splitlines()


def pyright(folder, python, places=()):
    """Lines of what pyright says of all files of a folder, in its default settings.

    Args:
      folder: where the files are; a configuration is written there.
      python: of the environment.
      places: further folders to import from.
    """
    path = os.path.join(str(folder), "pyrightconfig.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"extraPaths": list(places)}, file)
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", python]
    found = json.loads(_output(command, folder))["generalDiagnostics"]
    return [
        "%s:%d: %s" % (each["file"], each["range"]["start"]["line"] + 1, each["message"])
        for each in found
    ]


def _output(command, folder):
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        command, cwd=str(folder), env=variables, capture_output=True, text=True
    ).stdout


class LanguageServer:
    """A client of pyright's language server, as an editor is: a context manager.

    Args:
      folder: the project's folder.
      python: of the environment.
    """

    def __init__(self, folder, python):
        self._folder = pathlib.Path(str(folder))
        self._python = python
        self._asked = 0

    def __enter__(self):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pyright.langserver", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        )
        root = self._folder.as_uri()
        can = {
            "workspace": {"configuration": True},
            "textDocument": {"hover": {"contentFormat": ["plaintext"]}},
        }
        folders = [{"uri": root, "name": "project"}]
        self._ask("initialize", processId=None, capabilities=can, workspaceFolders=folders)
        self._send(method="initialized", params={})
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def hovers(self, text):
        """What is shown over the last name of each line that is an expression alone.

        Args:
          text: of a file.

        Returns:
          {line: what is shown, as text}.
        """
        uri = (self._folder / "open.py").as_uri()
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self._send(method="textDocument/didOpen", params={"textDocument": document})
        shown = {}
        for number, line in enumerate(text.splitlines()):
            if re.match(r"[\w.]+$", line):
                place = {"line": number, "character": len(line) - 1}
                hover = self._ask("textDocument/hover", textDocument={"uri": uri}, position=place)
                shown[line] = hover["contents"]["value"] if hover else ""
        return shown

    def _ask(self, method, **params):
        """Sends a request and returns its result; answers what the server asks meanwhile."""
        self._asked += 1
        self._send(id=self._asked, method=method, params=params)
        while True:
            message = self._read()
            if "method" in message and "id" in message:
                self._send(id=message["id"], result=self._settings(message))
            elif message.get("id") == self._asked:
                return message["result"]

    def _settings(self, message):
        if message["method"] != "workspace/configuration":
            return None
        items = message["params"]["items"]
        return [
            {"pythonPath": self._python} if each.get("section") == "python" else {}
            for each in items
        ]

    def _send(self, **message):
        body = json.dumps(dict(message, jsonrpc="2.0")).encode("utf-8")
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _read(self):
        size = 0
        for line in iter(lambda: self._process.stdout.readline().strip(), b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        return json.loads(self._process.stdout.read(size).decode("utf-8"))
