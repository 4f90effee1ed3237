"""The process that loads libtpu: reads one request, compiles it, and prints one line of JSON.

    python -I tpudist/tools/compile/compiler/worker.py < request.json > answer.json

It imports the standard library only, so that nothing of the user's environment is in the
process that may crash, and calls the part of the PJRT C API that compiling needs by ctypes.
A request without "hlo" only describes the topology. An answer that is not "ok" has "code",
"message", and what was known before it failed.

libtpu.so exports ``GetPjrtApi``, which returns a table of functions. The table grows at
its end only. Each function takes one struct: its size, an extension pointer, and fields
of eight bytes, inputs first. See ``xla/pjrt/c/pjrt_c_api.h`` in OpenXLA.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import resource
import signal
import sys
import time
from typing import Any, Iterable, Mapping, NamedTuple

_PR_SET_PDEATHSIG = 1

WORD = 8

#: Size of the table's header: its size, an extension pointer, and the version's struct.
_HEADER = 5 * WORD


class Function(NamedTuple):
    """A function of the table."""

    place: int  # in the table
    # how many fields of its struct it reads and writes
    inputs: int
    outputs: int
    size: int | None  # of its struct, if that ends within a word; else None


FUNCTIONS = {
    "Error_Destroy": Function(0, 1, 0, None),
    "Error_Message": Function(1, 1, 2, None),
    "Error_GetCode": Function(2, 1, 1, 3 * WORD + 4),
    "Plugin_Initialize": Function(3, 0, 0, None),
    "DeviceDescription_Kind": Function(26, 1, 2, None),
    "Executable_GetCostAnalysis": Function(46, 1, 2, None),
    "Executable_OptimizedProgram": Function(48, 2, 0, None),
    "TopologyDescription_Create": Function(82, 4, 1, None),
    "TopologyDescription_GetDeviceDescriptions": Function(86, 1, 2, None),
    "Compile": Function(89, 5, 1, None),
    "Executable_GetCompiledMemoryStats": Function(96, 1, 12, None),
}

#: The results of GetCompiledMemoryStats, in bytes; older libraries leave the last ones at 0.
MEMORY = tuple(
    "code arguments outputs aliased temporary host_code host_arguments host_outputs host_aliased "
    "host_temporary peak total".split()
)

CODES = tuple(
    "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS "
    "PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED "
    "INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split()
)


def main() -> None:
    """Answers one request."""
    out = os.dup(1)
    os.dup2(2, 1)  # so that what the library prints is not part of the answer
    request = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # so that a crash writes no core file
    _end_with(request["parent"])
    answer: dict[str, Any] = {"ok": False}
    try:
        _compile(request, answer)
        answer["ok"] = True
    except PjrtError as error:
        answer.update(code=error.code, message=error.message)
    except OSError as error:
        answer.update(code="NOT_FOUND", message=str(error))
    answer["peak_bytes"] = _peak_bytes()
    with os.fdopen(out, "w") as file:
        json.dump(answer, file)
        file.write("\n")


def _end_with(parent: int) -> None:
    """Asks Linux to kill this process when the parent's process ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # the parent has ended before
        os._exit(1)


def _compile(request: dict[str, Any], answer: dict[str, Any]) -> None:
    """Compiles the program of a request, and adds what is known to the answer."""
    api = Api(request["libtpu"])
    answer["pjrt"] = "%d.%d" % api.version
    topology = _topology(api, request["topology"], request["options"])
    pointer, count = api.call("TopologyDescription_GetDeviceDescriptions", topology)
    devices = (ctypes.c_void_p * count).from_address(pointer)
    kind = _text(*api.call("DeviceDescription_Kind", devices[0] or 0))
    answer.update(devices=count, kind=kind)
    if "hlo" not in request:
        return
    hlo, options = (base64.b64decode(request[each]) for each in ("hlo", "compile_options"))
    start = time.time()
    executable = _executable(api, topology, hlo, options)
    answer["seconds"] = time.time() - start
    words = api.call("Executable_GetCompiledMemoryStats", executable)
    answer.update(
        memory={name: ctypes.c_int64(word).value for name, word in zip(MEMORY, words)},
        cost=_cost(api, executable),
        optimized=base64.b64encode(_optimized(api, executable)).decode(),
    )


def _peak_bytes() -> int:
    """Returns the peak resident memory of this process alone; `ru_maxrss` counts the parent's."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return 1024 * sum(int(line.split()[1]) for line in file if line.startswith("VmHWM:"))


class PjrtError(Exception):
    """An error that the library returned: the name of its code, and its message."""

    def __init__(self, code: str, message: str) -> None:
        Exception.__init__(self, "%s: %s" % (code, message))
        self.code, self.message = code, message


class _Value(ctypes.Union):
    _fields_ = [
        ("text", ctypes.c_void_p),
        ("integers", ctypes.POINTER(ctypes.c_int64)),
        ("real", ctypes.c_float),
    ]


class _NamedValue(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("name", ctypes.c_void_p),
        ("name_size", ctypes.c_size_t),
        ("kind", ctypes.c_int),
        ("value", _Value),
        ("value_size", ctypes.c_size_t),
    ]


_TEXT, _INTEGERS, _REAL = 0, 2, 3


class Api:
    """The functions of libtpu; there is one per process.

    Raises:
      OSError: the library cannot be loaded.
      PjrtError: the library cannot be started, or has no PJRT API.
    """

    def __init__(self, path: str) -> None:
        library = ctypes.CDLL(path)
        if not hasattr(library, "GetPjrtApi"):
            raise PjrtError("UNIMPLEMENTED", "no GetPjrtApi in %s" % path)
        library.GetPjrtApi.restype = ctypes.c_void_p
        self._table = library.GetPjrtApi()
        self._size = ctypes.c_size_t.from_address(self._table).value
        self.version = tuple((ctypes.c_int * 2).from_address(self._table + 4 * WORD))
        self.call("Plugin_Initialize")

    def call(self, name: str, *inputs: int) -> list[int]:
        """Calls a function of FUNCTIONS with integers and addresses; returns its outputs."""
        if not self._address(name):
            raise PjrtError("TOO_OLD", "PJRT %d.%d has no %s" % (self.version + (name,)))
        error, outputs = self._call(name, ctypes.c_void_p, inputs)
        if error:
            raise self._error(error)
        return outputs

    def _call(
        self, name: str, returns: type[ctypes.c_void_p] | None, inputs: Iterable[int]
    ) -> tuple[int, list[int]]:
        """Returns (the result of a function, the output fields of its struct)."""
        signature = FUNCTIONS[name]
        words = 2 + signature.inputs + signature.outputs
        struct = (ctypes.c_uint64 * words)(signature.size or WORD * words, 0, *inputs)
        function = ctypes.CFUNCTYPE(returns, ctypes.c_void_p)(self._address(name))
        return function(ctypes.addressof(struct)), list(struct)[2 + signature.inputs :]

    def _address(self, name: str) -> int:
        """Returns the address of a function, 0 if the library does not have it."""
        offset = _HEADER + WORD * FUNCTIONS[name].place
        if offset + WORD > self._size:
            return 0
        return ctypes.c_size_t.from_address(self._table + offset).value

    def _error(self, error: int) -> PjrtError:
        """Returns the PjrtError of an error that a function returned, and frees that."""
        message = _text(*self._call("Error_Message", None, [error])[1])
        (code,) = self.call("Error_GetCode", error)
        self._call("Error_Destroy", None, [error])  # the message's memory goes with it
        return PjrtError(CODES[code] if code < len(CODES) else str(code), message)


def _topology(api: Api, name: str, options: Mapping[str, Any]) -> int:
    """Describes a slice to the compiler; options are texts or lists of int. Returns its handle."""
    encoded = ctypes.create_string_buffer(name.encode())
    values, buffers = _named_values(options)
    place, several = ctypes.addressof(encoded), ctypes.addressof(values)
    (handle,) = api.call("TopologyDescription_Create", place, len(name), several, len(options))
    del buffers  # the values point to them until here
    return handle


def _executable(api: Api, topology: int, hlo: bytes, options: bytes) -> int:
    """Compiles a serialized HloModuleProto, with a serialized CompileOptionsProto."""
    code = ctypes.create_string_buffer(hlo, len(hlo))
    code_format = ctypes.create_string_buffer(b"hlo")
    encoded = ctypes.create_string_buffer(options, len(options))
    program = _program(ctypes.addressof(code), len(hlo), ctypes.addressof(code_format), 3)
    pointers = [ctypes.addressof(program), ctypes.addressof(encoded)]
    (handle,) = api.call("Compile", topology, *pointers, len(options), 0)
    return handle


def _cost(api: Api, executable: int) -> dict[str, float]:
    """Returns the compiler's cost analysis, {name: number}."""
    count, pointer = api.call("Executable_GetCostAnalysis", executable)
    named = (_NamedValue * count).from_address(pointer) if count else ()
    return {
        _text(each.name, each.name_size): each.value.real for each in named if each.kind == _REAL
    }


def _optimized(api: Api, executable: int) -> bytes:
    """Returns the optimized program, a serialized HloModuleProtoWithConfig."""
    program = _program(0, 0, 0, 0)
    for _ in range(2):  # the first call returns the size
        if program[3]:
            code = ctypes.create_string_buffer(program[3])
            program[2] = ctypes.addressof(code)
        api.call("Executable_OptimizedProgram", executable, ctypes.addressof(program))
    return code.raw


def _program(
    code: int, size: int, code_format: int, format_size: int
) -> ctypes.Array[ctypes.c_uint64]:
    """Returns a PJRT_Program struct."""
    return (ctypes.c_uint64 * 6)(6 * WORD, 0, code, size, code_format, format_size)


def _text(pointer: int, size: int) -> str:
    return ctypes.string_at(pointer, size).decode("utf-8", "replace")


def _named_values(options: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """Returns (an array of named values, texts or lists of integers, their buffers)."""
    values: Any = (_NamedValue * max(1, len(options)))()
    buffers: list[Any] = []
    for value, (name, option) in zip(values, sorted(options.items())):
        buffers.append(ctypes.create_string_buffer(name.encode()))
        value.struct_size, value.value_size = ctypes.sizeof(_NamedValue), len(option)
        value.name, value.name_size = ctypes.addressof(buffers[-1]), len(name)
        if isinstance(option, list):
            buffers.append((ctypes.c_int64 * len(option))(*option))
            value.kind = _INTEGERS
            value.value.integers = ctypes.cast(buffers[-1], ctypes.POINTER(ctypes.c_int64))
        else:
            buffers.append(ctypes.create_string_buffer(option.encode()))
            value.kind = _TEXT
            value.value.text = ctypes.addressof(buffers[-1])
    return values, buffers


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # the library's own shutdown may hang or crash
