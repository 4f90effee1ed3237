"""Runs programs, each in a process of its own that has TensorFlow imported already.

python forked.py FOLDER HOW: prints {name: [exit code, output]} of the programs in a
folder as JSON. HOW is "runner" (as ``tpudist run``), or "python".
"""

import json
import os
import pathlib
import runpy
import sys
import traceback


def child(path, how, output):
    """Runs one program; its exit code."""
    with open(output, "w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(os.path.dirname(path))
    sys.argv = [path]
    sys.path.insert(0, os.path.dirname(path))
    try:
        if how == "runner" or how == "mixed" and "virtual:" in pathlib.Path(path).read_text():
            from tpudist.legacy import runner

            return runner.run(path, era="2.2" if how == "mixed" else None) or 0
        runpy.run_path(path, run_name="__main__")
    except SystemExit as error:
        return int(error.code or 0)
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        return 1
    return 0


def main(folder, how):
    """Runs all programs of a folder."""
    import tensorflow

    del tensorflow
    found = {}
    for name in sorted(os.listdir(folder)):
        path, output = os.path.join(folder, name), os.path.join(folder, name + ".txt")
        if not name.endswith(".py"):
            continue
        if os.fork() == 0:
            code = child(path, how, output)
            sys.stdout.flush()
            os._exit(code)
        code = os.wait()[1] >> 8
        with open(output) as file:
            found[name[:-3]] = [code, file.read()]
    print("FOUND" + json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
