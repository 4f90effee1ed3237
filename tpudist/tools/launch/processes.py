"""The processes of a launched program: starting them, passing their output on, ending them."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import IO, Iterator, NamedTuple, Sequence

#: Lines of a worker that is not shown; the last ones are printed if it fails.
_KEPT = 20

#: Seconds between two looks at the workers.
_PAUSE = 0.05

#: Signals that end the launcher, and with it all workers.
_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Command(NamedTuple):
    """A worker's command line, its environment, and variables for its standard input."""

    line: list[str]
    environment: dict[str, str]
    sent: dict[str, str]


class Output(NamedTuple):
    """Whether only the chief's output is shown, and the folder of ``worker-0.log`` and so on."""

    quiet: bool
    folder: str | None = None


class Ended(NamedTuple):
    """The exit code, and whether it is a worker's that failed, not a signal's to this process."""

    code: int
    has_failed: bool = False


class _Signalled(BaseException):
    """The launcher got a signal that ends it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Worker:
    """A process of the program, in a group of its own, and the threads that pass its output on.

    The output of the chief, 0, is passed on as it is, and a terminal is its own, for its bars; each
    line of another worker gets a prefix.
    """

    def __init__(self, index: int, command: Command, output: Output) -> None:
        # Elsewhere lines of several workers could mix.
        own_terminal = not index and sys.stdout.isatty() and output.folder is None
        how = None if own_terminal else subprocess.PIPE
        self._prefix = "[worker %d] " % index if index else ""
        self._is_quiet = output.quiet and bool(index)
        self._log = os.devnull
        if output.folder is not None:
            self._log = os.path.join(output.folder, "worker-%d.log" % index)
        self._last: collections.deque[str] = collections.deque(maxlen=_KEPT)
        self.process = subprocess.Popen(
            command.line,
            env=command.environment,
            stdin=subprocess.PIPE,
            stdout=how,
            stderr=how,
            start_new_session=True,
        )
        self._threads = [
            threading.Thread(target=self._pass_on, args=pair, daemon=True)
            for pair in [(self.process.stdout, sys.stdout), (self.process.stderr, sys.stderr)]
            if pair[0] is not None
        ]
        for thread in self._threads:
            thread.start()
        with contextlib.suppress(BrokenPipeError):  # then its exit code says why
            self._input.write(json.dumps(command.sent).encode("utf-8") + b"\n")
            self._input.flush()

    @property
    def _input(self) -> IO[bytes]:
        assert self.process.stdin
        return self.process.stdin

    def _pass_on(self, lines: IO[bytes], to: IO[str]) -> None:
        with open(self._log, "ab", buffering=0) as log:
            for line in lines:
                log.write(line)
                text = self._prefix + line.decode("utf-8", "replace").rstrip("\r\n") + "\n"
                if self._is_quiet:
                    self._last.append(text)
                else:
                    to.write(text)
                    to.flush()

    def signal(self, number: int) -> None:
        """Sends a signal to the process, and to those that it has started."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                getattr(os, "killpg", os.kill)(self.process.pid, number)

    def finish(self) -> str:
        """Waits for the end of the output; returns what was not shown of it."""
        self.process.wait()
        for thread in self._threads:
            thread.join(1.0)
        with contextlib.suppress(BrokenPipeError):
            self._input.close()
        return "".join(self._last)


def run(names: Sequence[str], commands: Sequence[Command], output: Output, grace: float) -> Ended:
    """Starts the workers on hosts of these `names`, and waits until all have ended or one failed.

    Then the others have `grace` seconds to end by themselves.
    """
    workers: list[Worker] = []
    with _ending_by_signals():
        try:
            for index, command in enumerate(commands):
                workers.append(Worker(index, command, output))
            failed = _first_failure(workers)
        except KeyboardInterrupt:
            _end(workers, signal.SIGINT, grace)
            return Ended(130)
        except _Signalled as signalled:
            _end(workers, signal.SIGTERM, grace)
            return Ended(128 + signalled.number)
        _end(workers, signal.SIGTERM, grace)
    return Ended(0) if failed is None else Ended(_report(names, workers, failed), has_failed=True)


def _first_failure(workers: Sequence[Worker]) -> int | None:
    """The worker that failed first; None once all have ended well."""
    while True:
        codes = [worker.process.poll() for worker in workers]
        for index, code in enumerate(codes):
            if code:
                return index
        if None not in codes:
            return None
        time.sleep(_PAUSE)


def _report(names: Sequence[str], workers: Sequence[Worker], index: int) -> int:
    """Says which worker failed, and what of its output was not shown; returns the exit code."""
    code = workers[index].process.returncode
    lines = workers[index].finish()
    print(
        "%stpudist launch: worker %d ended with exit code %d, on %s; the others are ended"
        % (lines, index, code, names[index]),
        file=sys.stderr,
    )
    return code if code > 0 else 128 - code


def _end(workers: Sequence[Worker], number: int, grace: float) -> None:
    """Asks all workers at once to end, and kills those that have not after `grace` seconds.

    A further signal to this process kills them at once.
    """
    for worker in workers:
        worker.signal(number)
    until = time.monotonic() + grace
    try:
        while any(each.process.poll() is None for each in workers) and time.monotonic() < until:
            time.sleep(_PAUSE)
    except (KeyboardInterrupt, _Signalled):
        print("tpudist launch: the workers are killed", file=sys.stderr)
    for worker in workers:
        worker.signal(getattr(signal, "SIGKILL", signal.SIGTERM))
    for worker in workers:
        worker.finish()


@contextlib.contextmanager
def _ending_by_signals() -> Iterator[None]:
    """A context in which a signal that would end this process raises `_Signalled`."""

    def end(number: int, unused_frame: object) -> None:
        raise _Signalled(number)

    before = {number: signal.signal(number, end) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
