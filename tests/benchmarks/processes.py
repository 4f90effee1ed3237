"""Child processes: engines that are told to train, and programs that answer once."""

import json
import os
import subprocess
import sys
import tempfile

from tpudist.tools.launch import commands

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def environment(device=None):
    """The children's environment: this checkout, no TPU of the caller's, CPU only.

    Args:
      device: the device that computes, such as "GPU:0"; the CPU if None.
    """
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("TPU") or name == "TPUDIST_LIBTPU"
    }
    # An installed package has its bytecode: no first step may compile its sources again.
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    environ.update(PYTHONPATH=ROOT, TF_CPP_MIN_LOG_LEVEL="3")
    if device is None:
        environ["CUDA_VISIBLE_DEVICES"] = "-1"
    else:
        environ.update(TPUDIST_DEVICE=device, TF_FORCE_GPU_ALLOW_GROWTH="true")
    return environ


def has_a_gpu():
    """Whether TensorFlow, in a process of its own, sees a GPU here."""
    ask = "import tensorflow as tf; print(tf.config.experimental.list_physical_devices('GPU'))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ask],
        env=environment("GPU:0"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return "GPU" in done.stdout


class Engine:
    """A `tests.benchmarks.engine` process; a context manager.

    Args:
      engine: plain, virtual, mirrored or mirrored_one.
      device: the device that computes, such as "GPU:0"; the CPU if None.
      task: the variable TF_CONFIG of a worker.
      **options: what else the process is told.
    """

    def __init__(self, engine, device=None, task=None, **options):
        self._what = "%s %s" % (engine, options)
        self._errors = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115 (until close)
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-W",
                "ignore",
                "-m",
                "tests.benchmarks.engine",
                json.dumps(dict(options, engine=engine)),
            ],
            cwd=ROOT,
            env=dict(environment(device), **({"TF_CONFIG": task} if task else {})),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            universal_newlines=True,
        )

    def __enter__(self):
        self.answer()
        return self

    def __exit__(self, *unused):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
        self._errors.close()

    def first(self):
        """Runs the first step; returns the answer."""
        return self._ask("first")

    def steps(self, count):
        """Runs `count` steps; returns the answer, with seconds per step."""
        return self._ask("steps %d" % count)

    def _ask(self, command):
        self.tell(command)
        return self.answer()

    def tell(self, command):
        """Starts what a command asks for."""
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()

    def answer(self):
        """Waits for the next answer."""
        for line in self._process.stdout:
            if line.startswith("@"):
                return json.loads(line[1:])
        self._process.wait()
        self._errors.seek(0)
        raise RuntimeError(
            "%s ended with %d\n%s"
            % (self._what, self._process.returncode, self._errors.read()[-3000:])
        )


class Cluster:
    """Workers of a cluster on this machine, each an `Engine`; a context manager.

    Args:
      engine: cluster:virtual, cluster:cpus or workers.
      workers: how many.
      **options: what each process is told.
    """

    def __init__(self, engine, workers, **options):
        tasks = commands.configurations(["localhost"] * workers, None)
        self._engines = [Engine(engine, task=task, **options) for task in tasks]

    def __enter__(self):
        for engine in self._engines:
            engine.answer()
        return self

    def __exit__(self, *unused):
        for engine in self._engines:
            engine.__exit__()

    def ask(self, command):
        """Tells all workers; returns the chief's answer, with the CPU time of all."""
        for engine in self._engines:
            engine.tell(command)
        answers = [engine.answer() for engine in self._engines]
        return dict(answers[0], cpu=sum(answer.get("cpu", 0) for answer in answers))


def answer(module, *arguments, environ=None):
    """What a module of this package prints as its last line, a JSON object.

    Args:
      module: its name.
      *arguments: its command line.
      environ: variables that it gets beside the others.
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.benchmarks." + module]
        + [str(argument) for argument in arguments],
        cwd=ROOT,
        env=dict(environment(), **environ or {}),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError("%s ended with %d\n%s" % (module, done.returncode, done.stderr[-3000:]))
    return json.loads(done.stdout.splitlines()[-1])
