"""Looks TPUs up as a program on a machine of Google Cloud does; a process of its own.

Google's clients read the address of the metadata service once, when they are imported.
A line of standard input holds the arguments of a resolver and the seconds it may take, as
JSON; a line of standard output tells the hosts that it found, or the error.
"""

import json
import os
import sys


def main():
    from oauth2client import client

    from tpudist.errors import TpudistError
    from tpudist.system import cluster

    for line in sys.stdin:
        client.SETTINGS.env_name = None  # it is kept for a process; here each line is one
        arguments = json.loads(line)
        os.environ["TPUDIST_TPU_TIMEOUT"] = str(arguments.pop("seconds"))
        try:
            spec = cluster.TPUClusterResolver("t", **arguments).cluster_spec()
            said = {"hosts": spec.job_tasks("worker")}
        except TpudistError as error:
            kind = type(error).__name__
            said = {"kind": kind, "seen": error.seen, "why": error.why, "instead": error.instead}
        print("\n@" + json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
