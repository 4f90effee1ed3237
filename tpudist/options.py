"""What each verb of the command line takes. No TensorFlow, no numpy."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Callable, Mapping

from tpudist import __version__, surfaces

if TYPE_CHECKING:
    _Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


ERAS = tuple(map(surfaces.spelled, surfaces.ERAS))


def parser(functions: Mapping[str, Callable[[argparse.Namespace], int]]) -> argparse.ArgumentParser:
    """The ``argparse`` parser of all verbs.

    Args:
      functions: {verb: what it does}; a function of the parsed options, which
        have it as ``verb``.
    """
    top = argparse.ArgumentParser(
        prog="tpudist",
        description="Training code written for TensorFlow's TPU "
        "strategies of 1.11, 2.0 and 2.2, on the TensorFlow installed here.",
    )
    top.add_argument("--version", action="version", version="tpudist " + __version__)
    verbs = top.add_subparsers(dest="verb_name", metavar="VERB")
    verbs.required = True
    for name, add in _VERBS.items():
        verb = add(verbs)
        verb.set_defaults(verb=functions[name])
        _add_loudness(verb)
    return top


def _add_loudness(verb: argparse.ArgumentParser) -> None:
    """The options of every verb."""
    verb.add_argument("--version", action="version", version="tpudist " + __version__)
    told = "print the result alone: no notes, no progress"
    verb.add_argument("-q", "--quiet", action="store_true", help=told)
    told = "print what TensorFlow logs when it starts, and the traceback of an error of tpudist's"
    verb.add_argument("-v", "--verbose", action="store_true", help=told)


def _add_run(verbs: _Verbs) -> argparse.ArgumentParser:
    verb = verbs.add_parser(
        "run",
        help="run a legacy script, unmodified",
        allow_abbrev=False,
        usage="tpudist run [--era ERA] [--keras era|installed] [--tpu NAME] [--also PACKAGE] "
        "[--not PACKAGE] [--explain] [--compile SLICE] [--check-replicas N] "
        "script.py|-m MODULE [args...]",
        description="Runs a script written for 'import tensorflow as tf' of its era. "
        "Everything after the script belongs to the script.",
    )
    _add_program(verb)
    _add_steps(verb)
    _add_compiler(verb)
    verb.add_argument(
        "-m", dest="module", metavar="MODULE", help="run a module by its name, as python -m does"
    )
    verb.add_argument("script", nargs="?", help="the script's path")
    return verb


def _add_program(verb: argparse.ArgumentParser) -> None:
    """What is run, and as what."""
    verb.add_argument(
        "--era",
        choices=ERAS,
        help="the API the script was written for; found by reading it if left out",
    )
    verb.add_argument(
        "--keras",
        choices=("era", "installed"),
        help="tf.keras of the script: that of its era, Keras 2 (from TensorFlow 2.16 on the "
        "package tf_keras, if it is installed), which is the default; or the installed Keras 3",
    )
    verb.add_argument(
        "--tpu",
        metavar="NAME",
        help="a TPU's name or address; virtual:8; gpus, gpus:4, cpus:8: devices as cores; "
        "cluster:virtual:8, cluster:gpus:4: those of each worker of TF_CONFIG; overrides what the "
        "script passes",
    )
    verb.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="an installed package that was written for the script's era too; those whose names "
        "tell it are found, and printed; may be given again",
    )
    verb.add_argument(
        "--not",
        dest="left_out",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="a package, or a module, that is to have the installed TensorFlow; may be given again",
    )


def _add_steps(verb: argparse.ArgumentParser) -> None:
    """What is done with the steps that it runs."""
    told = (
        "after the script, tell what the virtual cores of each step do together, and why not, what "
        "a TPU would refuse, and what to type next; --json and --html write it too"
    )
    verb.add_argument("--explain", action="store_true", help=told)
    verb.add_argument(
        "--compile",
        metavar="SLICE",
        help="compile every replica function that the script runs for this slice, "
        "such as v5e:2x4 (see tpudist compile), and report after the script; exit "
        "code 1 if one does not compile",
    )
    verb.add_argument(
        "--trace-only",
        action="store_true",
        help="with --compile: trace replica functions and run none, they return zeros; the "
        "script ends when each of its calls that run replicas has been traced",
    )
    told = "on a cluster, compare the workers' variables after the first step and every N-th"
    verb.add_argument("--check-replicas", type=int, metavar="N", help=told)


def _add_compile(verbs: _Verbs) -> argparse.ArgumentParser:
    verb = verbs.add_parser(
        "compile",
        help="compile a replica's step with the real TPU compiler, without a TPU",
        allow_abbrev=False,
        usage="tpudist compile [--topology v5e:2x4] [options] path/to/train.py:step_fn "
        "--args 'f32[128,28,28,1],s32[128]'",
        description="Lowers the step as one replica runs it and compiles it with libtpu: does "
        "it compile, does it fit, what does it cost. Exit code 1 if it does not compile.",
    )
    verb.add_argument(
        "target",
        nargs="?",
        metavar="FILE:FUNCTION",
        help="the replica function, as strategy.run gets it; the file is executed as a module",
    )
    verb.add_argument(
        "--args",
        metavar="SHAPES",
        help="what one replica gets, shapes and values, such as "
        "'f32[128,28,28,1],s32[128],n=100', 'x=bf16[8,4]', '(f32[2],s32[])' or "
        "'{image:f32[8,28,28,1],label:s32[8]}'",
    )
    verb.add_argument(
        "--topology",
        "--tpu",
        metavar="SLICE",
        default="v5e:2x4",
        help="chips such as v5e:2x4 or v4:2x2x2, or a name such as v3-32, "
        "v5litepod-8 or v6e-8; by default v5e:2x4",
    )
    verb.add_argument(
        "--replicas", type=int, metavar="N", help="by default as many as the slice has room for"
    )
    verb.add_argument(
        "--logical", type=int, metavar="N", help="logical devices of a replica; by default 1"
    )
    verb.add_argument("--strategy", metavar="NAME", help="of the file's several TPUStrategies")
    verb.add_argument("--era", choices=ERAS, help="as of tpudist run")
    verb.add_argument(
        "--compare",
        nargs=2,
        metavar=("OLD", "NEW"),
        help="compare two reports of --json and compile nothing; exit code 1 if they differ",
    )
    verb.add_argument(
        "--fit", action="store_true", help="find the largest batch of a replica that fits"
    )
    _add_compiler(verb)
    return verb


def _add_compiler(verb: argparse.ArgumentParser) -> None:
    """The options of whatever compiles."""
    told = "optimize little: a quick answer, with other figures"
    verb.add_argument("--fast", action="store_true", help=told)
    told = "compile anew, whatever is kept ($TPUDIST_CACHE, up to $TPUDIST_CACHE_SIZE, or 1GiB)"
    verb.add_argument("--no-cache", action="store_true", help=told)
    verb.add_argument(
        "--lower-with",
        metavar="PYTHON",
        help="the Python of an environment with TensorFlow 2.5 or newer; it "
        "lowers what an older TensorFlow traces here",
    )
    verb.add_argument(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="end the compiler after that time; by default 1800",
    )
    verb.add_argument("--json", metavar="FILE", help="write the report as JSON")
    verb.add_argument("--html", metavar="FILE", help="write the report as a page")
    verb.add_argument(
        "--hlo", metavar="DIR", help="leave the program there, before and after optimization"
    )
    verb.add_argument(
        "--max-hbm", metavar="SIZE", help="exit code 1 above so much, such as 14GiB, on a device"
    )
    verb.add_argument(
        "--baseline", metavar="FILE", help="exit code 1 if it is not as in this report of --json"
    )
    verb.add_argument(
        "--rtol", type=float, metavar="X", help="of --baseline and --compare; by default 0.05"
    )
    told = "print what is wrong as GitHub annotations too"
    verb.add_argument("--github", action="store_true", help=told)


def _add_doctor(verbs: _Verbs) -> argparse.ArgumentParser:
    verb = verbs.add_parser(
        "doctor",
        help="what is installed, what does not fit, what to type",
        description="Reports TensorFlow, Keras, TPU and their mismatches. Exit code 1 "
        "if there are problems. Asks no network but for the TPU that --tpu names.",
    )
    verb.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files and folders: where each name of tf.contrib in them leads here",
    )
    verb.add_argument("--json", action="store_true", help="one JSON object, for programs")
    verb.add_argument(
        "--tpu",
        metavar="NAME",
        help="ask Google Cloud for this TPU's state, health, type and runtime, for "
        "TPUDIST_TPU_TIMEOUT seconds (30) at most",
    )
    verb.add_argument(
        "--configure",
        action="store_true",
        help="set that TPU's runtime to the TensorFlow installed here; restarts its servers",
    )
    verb.add_argument("--zone", help="where it is; by default the zone of this machine")
    verb.add_argument("--project", help="whose it is; by default the project of this machine")
    verb.add_argument(
        "--runtime",
        metavar="VERSION",
        help="the TPU runtime's version, if you know it, to compare with",
    )
    verb.add_argument(
        "--constraints",
        metavar="RELEASE",
        help="print the pins without which a TensorFlow release, such as 1.15, does not work, "
        "and nothing else: a constraints file for pip install -c",
    )
    return verb


def _add_selftest(verbs: _Verbs) -> argparse.ArgumentParser:
    verb = verbs.add_parser(
        "selftest",
        help="the programs of all surfaces on the TPU at hand, against recorded values",
        description="Runs programs of each surface on the TPU at hand (a virtual one where "
        "there is none), compares what they give with records, measures the step time, and "
        "writes a report. Takes under 5 minutes, sets nothing, and says what it could not "
        "try. Exit code 1 if a value differs.",
    )
    verb.add_argument("--tpu", metavar="NAME", help="a TPU's name or address, local, or virtual:8")
    for kind in ("json", "html"):
        name = "tpudist-selftest." + kind
        verb.add_argument("--" + kind, metavar="FILE", default=name, help="by default " + name)
    return verb


def _add_matrix(verbs: _Verbs) -> argparse.ArgumentParser:
    verb = verbs.add_parser(
        "matrix",
        help="run a command on several TensorFlow releases",
        allow_abbrev=False,
        usage="tpudist matrix --releases 1.15,2.15 [options] -- pytest tests/",
        description="Makes an environment per release, with your project, tpudist and "
        "pytest in it, and runs the command in each on a virtual TPU; '{release}' in the "
        "command stands for the release. Environments are kept, made anew when the release's "
        "row or your project's metadata changes, and removed when the project is gone or "
        "nobody has used them for 30 days. Exit code: 1 if the command failed on a release, "
        "2 if a release could not be set up.",
    )
    _add_choice(verb)
    _add_environments(verb)
    verb.add_argument(
        "--tpu",
        default="virtual:8",
        metavar="NAME",
        help="TPUDIST_TPU of the command; by default virtual:8",
    )
    verb.add_argument(
        "--jobs",
        type=int,
        default=1,
        metavar="N",
        help="run N releases at once; the output of each is then shown when it is done",
    )
    verb.add_argument(
        "--fail-fast",
        action="store_true",
        help="stop at the first release that fails; by default all are run",
    )
    _add_configurations(verb)
    return verb


def _add_choice(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--releases", metavar="LIST", help="such as 1.15,2.2,2.15; or all")
    verb.add_argument(
        "--random",
        type=int,
        default=0,
        metavar="N",
        help="N more, drawn from the rest of the table",
    )
    verb.add_argument("--seed", type=int, help="draw the same again; each draw prints its seed")
    verb.add_argument("--table", metavar="FILE", help="a table of releases of your own")
    verb.add_argument("--list", action="store_true", help="show the table of releases")


def _add_environments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--project",
        default=".",
        metavar="DIR[EXTRAS]",
        help='what is installed (editable), such as ".[test]"; by default "."',
    )
    verb.add_argument(
        "--with",
        dest="extra",
        action="append",
        default=[],
        metavar="REQUIREMENT",
        help="install this too; may be given again",
    )
    verb.add_argument(
        "--cache",
        metavar="DIR",
        help="where environments are kept; by default $TPUDIST_CACHE or the "
        "platform's cache folder",
    )
    verb.add_argument(
        "--fresh",
        action="store_true",
        help="make the environments anew, as after a change of compiled code",
    )


def _add_configurations(verb: argparse.ArgumentParser) -> None:
    form = verb.add_mutually_exclusive_group()
    form.add_argument(
        "--github",
        action="store_true",
        help="print a GitHub workflow that does the same, and run nothing",
    )
    form.add_argument(
        "--shell",
        action="store_true",
        help="print a shell script for any other CI, and run nothing",
    )


def _add_pins(verbs: _Verbs) -> argparse.ArgumentParser:
    verb = verbs.add_parser(
        "pins",
        help="values that tests recorded: compare releases, accept changes",
        description="A test records values with the fixture 'pin' and compares them from "
        "then on, on every TensorFlow release.",
    )
    actions = verb.add_subparsers(dest="action", metavar="ACTION")
    actions.required = True
    report = actions.add_parser(
        "report", help="which releases agree", description="Exit code 1 if releases differ."
    )
    report.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="folders, test modules or pin files; by default this folder",
    )
    report.add_argument("--png", metavar="FILE", help="draw the curves of all releases")
    report.add_argument("--html", metavar="FILE", help="write one page with all of it")
    for name, what in (
        ("update", "record anew the pins that differ"),
        ("record", "record every pin anew, drop unused ones"),
    ):
        actions.add_parser(
            name,
            help=what + ", by running pytest with your arguments",
            usage="tpudist pins %s [pytest arguments]" % name,
        )
    return verb


def _add_migrate(verbs: _Verbs) -> argparse.ArgumentParser:
    from tpudist.tools.migrate import options

    verb = verbs.add_parser(
        "migrate",
        help="rewrite a code base for the names of a later era",
        allow_abbrev=False,
        description="Rewrites code of one era for the next: names are resolved, not guessed. "
        "Writes nothing without --write. Exit code 1 if a use is left (or, with --check, a file "
        "would change), 2 if a file was refused.",
    )
    options.add(verb)
    return verb


def _add_launch(verbs: _Verbs) -> argparse.ArgumentParser:
    verb = verbs.add_parser(
        "launch",
        help="run a legacy script on several hosts at once",
        allow_abbrev=False,
        usage="tpudist launch --hosts a,b [--cores virtual:N|N|gpus|gpus:N] [--port N] "
        "[--quiet-workers] -- [options of tpudist run] script.py [args...]",
        description="Starts the script on each host, as tpudist run --tpu cluster does: by ssh, "
        "in this folder and with this Python, which has to be there too; a process here for each "
        "'localhost'. If one fails, the others are ended. Exit code: that of the first failure.",
    )
    verb.add_argument(
        "--hosts", metavar="LIST", help="names with commas between; the first is chief"
    )
    verb.add_argument(
        "--cores",
        metavar="N",
        help="cores of each host: virtual:8, computed together on one device; virtual:v3-32, those "
        "of a slice of so many hosts; 4 or cpus:4, logical CPUs; gpus:4; by default every GPU",
    )
    verb.add_argument(
        "--port",
        type=int,
        metavar="N",
        help="of the first worker, the next has N + 1; by default "
        "2222, and for localhost a free one",
    )
    verb.add_argument(
        "--quiet-workers", action="store_true", help="show the output of the chief alone"
    )
    return verb


def _add_help(verbs: _Verbs) -> argparse.ArgumentParser:
    verb = verbs.add_parser(
        "help",
        help="print a guide",
        description="Prints a guide, or the list of them. 'tpudist VERB --help' has the options.",
    )
    verb.add_argument("topic", nargs="?", metavar="TOPIC", help="such as run, migrate or pins")
    return verb


def _add_completion(verbs: _Verbs) -> argparse.ArgumentParser:
    verb = verbs.add_parser(
        "completion",
        help="print what has a shell complete tpudist's options",
        description='Prints a script for a shell: eval "$(tpudist completion bash)" in ~/.bashrc, '
        "tpudist completion zsh > a folder of fpath/_tpudist, tpudist completion fish > "
        "~/.config/fish/completions/tpudist.fish. Needs the extra 'completion'.",
    )
    verb.add_argument("shell", choices=("bash", "zsh", "fish"))
    return verb


_VERBS = {
    "run": _add_run,
    "launch": _add_launch,
    "compile": _add_compile,
    "doctor": _add_doctor,
    "selftest": _add_selftest,
    "matrix": _add_matrix,
    "pins": _add_pins,
    "migrate": _add_migrate,
    "help": _add_help,
    "completion": _add_completion,
}
