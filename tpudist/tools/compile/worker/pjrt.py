"""The part of the PJRT C API that compiling needs, by ctypes.

libtpu.so exports ``GetPjrtApi``, a table of functions that grows at its end
only. Each takes one struct: its size, an extension pointer, and fields of
eight bytes, inputs first. See ``xla/pjrt/c/pjrt_c_api.h`` in OpenXLA.
"""

import collections
import ctypes

WORD = 8

#: The table's header: its size, an extension pointer, and the version's struct.
_HEADER = 5 * WORD

#: A function: its place in the table, how many fields it takes and returns,
#: and, where its struct ends within a word, the struct's size.
Function = collections.namedtuple("Function", "index inputs outputs size")

FUNCTIONS = {
    "Error_Destroy": Function(0, 1, 0, None),
    "Error_Message": Function(1, 1, 2, None),
    "Error_GetCode": Function(2, 1, 1, 3 * WORD + 4),
    "Plugin_Initialize": Function(3, 0, 0, None),
    "DeviceDescription_Id": Function(23, 1, 1, 3 * WORD + 4),
    "DeviceDescription_Kind": Function(26, 1, 2, None),
    "Executable_GetCostAnalysis": Function(46, 1, 2, None),
    "Executable_OptimizedProgram": Function(48, 2, 0, None),
    "Executable_SizeOfGeneratedCodeInBytes": Function(45, 1, 1, None),
    "TopologyDescription_Create": Function(82, 4, 1, None),
    "TopologyDescription_PlatformVersion": Function(85, 1, 2, None),
    "TopologyDescription_GetDeviceDescriptions": Function(86, 1, 2, None),
    "TopologyDescription_Attributes": Function(88, 1, 2, None),
    "Compile": Function(89, 5, 1, None),
    "Executable_GetCompiledMemoryStats": Function(96, 1, 12, None),
}

#: What GetCompiledMemoryStats returns, in bytes; older libraries leave the last at 0.
MEMORY = (
    "code",
    "arguments",
    "outputs",
    "aliased",
    "temporary",
    "host_code",
    "host_arguments",
    "host_outputs",
    "host_aliased",
    "host_temporary",
    "peak",
    "total",
)

CODES = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)


class PjrtError(Exception):
    """An error that the library returned: its code's name and its message."""

    def __init__(self, code, message):
        Exception.__init__(self, "%s: %s" % (code, message))
        self.code, self.message = code, message


class _Value(ctypes.Union):
    _fields_ = [
        ("text", ctypes.c_void_p),
        ("integer", ctypes.c_int64),
        ("integers", ctypes.POINTER(ctypes.c_int64)),
        ("real", ctypes.c_float),
        ("truth", ctypes.c_bool),
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


_TEXT, _INTEGER, _INTEGERS, _REAL, _TRUTH = range(5)


class Api:
    """libtpu's table of functions; one per process.

    Args:
      path: of ``libtpu.so``.

    Raises:
      OSError: it cannot be loaded.
      PjrtError: it cannot be started, or has no PJRT API.
    """

    def __init__(self, path):
        library = ctypes.CDLL(path)
        if not hasattr(library, "GetPjrtApi"):
            raise PjrtError("UNIMPLEMENTED", "no GetPjrtApi in %s" % path)
        library.GetPjrtApi.restype = ctypes.c_void_p
        self._table = library.GetPjrtApi()
        self._size = ctypes.c_size_t.from_address(self._table).value
        self.version = tuple((ctypes.c_int * 2).from_address(self._table + 4 * WORD))
        self.call("Plugin_Initialize")

    def has(self, name):
        """Whether this library is new enough to have a function."""
        return self._size >= _HEADER + WORD * (FUNCTIONS[name].index + 1)

    def call(self, name, *inputs):
        """Calls a function of the table.

        Args:
          name: a key of FUNCTIONS.
          *inputs: integers and addresses.

        Returns:
          A list of what the struct's output fields hold, as unsigned integers.

        Raises:
          PjrtError: the function returned an error, or is not there.
        """
        if not self.has(name):
            raise PjrtError("UNIMPLEMENTED", "PJRT %d.%d has no %s" % (self.version + (name,)))
        error, outputs = self._call(name, ctypes.c_void_p, inputs)
        if error:
            raise self._error(error)
        return outputs

    def _call(self, name, returns, inputs):
        """(what the function returns, the output fields of its struct)."""
        form = FUNCTIONS[name]
        words = 2 + form.inputs + form.outputs
        struct = (ctypes.c_uint64 * words)(form.size or WORD * words, 0, *inputs)
        address = ctypes.c_void_p.from_address(self._table + _HEADER + WORD * form.index)
        function = ctypes.CFUNCTYPE(returns, ctypes.c_void_p)(address.value)
        return function(ctypes.addressof(struct)), list(struct)[2 + form.inputs :]

    def _error(self, error):
        """The PjrtError of an error that a function returned; frees it."""
        message = _text(*self._call("Error_Message", None, [error])[1])
        (code,) = self.call("Error_GetCode", error)
        self._call("Error_Destroy", None, [error])  # the message's memory goes with it
        return PjrtError(CODES[code] if code < len(CODES) else str(code), message)


class Topology:
    """A described slice; there need be no TPU.

    Args:
      api: an `Api`.
      name: such as ``"v5e:2x4"``.
      options: {name: int, text, or list of int}.

    Raises:
      PjrtError: there is no such slice.
    """

    def __init__(self, api, name, options):
        self._api = api
        encoded = ctypes.create_string_buffer(name.encode())
        values, kept = _named_values(options)
        (self._handle,) = api.call(
            "TopologyDescription_Create",
            ctypes.addressof(encoded),
            len(name),
            ctypes.addressof(values),
            len(options),
        )
        del kept
        pointer, count = api.call("TopologyDescription_GetDeviceDescriptions", self._handle)
        self._devices = list((ctypes.c_void_p * count).from_address(pointer)) if count else []

    def device_ids(self):
        """The ids of all devices, in the library's order."""
        return [self._api.call("DeviceDescription_Id", device)[0] for device in self._devices]

    def kind(self):
        """The chip's name, such as ``"TPU v5 lite"``."""
        return _text(*self._api.call("DeviceDescription_Kind", self._devices[0]))

    def attributes(self):
        """What the library says of the slice, a dict."""
        return _dictionary(*self._api.call("TopologyDescription_Attributes", self._handle))

    def platform_version(self):
        """The library's own words about its build."""
        return _text(*self._api.call("TopologyDescription_PlatformVersion", self._handle))

    def compile(self, hlo, options):
        """Compiles a serialized HloModuleProto.

        Args:
          hlo: bytes.
          options: bytes, a CompileOptionsProto.

        Returns:
          An `Executable`.

        Raises:
          PjrtError: the compiler's own error.
        """
        code = ctypes.create_string_buffer(hlo, len(hlo))
        form = ctypes.create_string_buffer(b"hlo")
        chosen = ctypes.create_string_buffer(options, len(options))
        program = _program(ctypes.addressof(code), len(hlo), ctypes.addressof(form), 3)
        return Executable(
            self._api,
            self._api.call(
                "Compile",
                self._handle,
                ctypes.addressof(program),
                ctypes.addressof(chosen),
                len(options),
                0,
            )[0],
        )


class Executable:
    """A compiled program."""

    def __init__(self, api, handle):
        self._api, self._handle = api, handle

    def memory(self):
        """{name of MEMORY: bytes}; None if the library is too old to say."""
        name = "Executable_GetCompiledMemoryStats"
        if not self._api.has(name):
            return None
        return dict(zip(MEMORY, map(_signed, self._api.call(name, self._handle))))

    def cost(self):
        """The compiler's cost analysis, {name: number}."""
        count, pointer = self._api.call("Executable_GetCostAnalysis", self._handle)
        return _dictionary(pointer, count)

    def optimized(self):
        """The optimized program: bytes of an HloModuleProtoWithConfig."""
        program = _program(0, 0, 0, 0)
        for _ in range(2):  # the first call tells the size
            if program[3]:
                code = ctypes.create_string_buffer(program[3])
                program[2] = ctypes.addressof(code)
            self._api.call("Executable_OptimizedProgram", self._handle, ctypes.addressof(program))
        return code.raw


def _program(code, size, form, form_size):
    """A PJRT_Program struct."""
    return (ctypes.c_uint64 * 6)(6 * WORD, 0, code, size, form, form_size)


def _text(pointer, size):
    return ctypes.string_at(pointer, size).decode("utf-8", "replace")


def _signed(word):
    return ctypes.c_int64(word).value


def _named_values(options):
    """(an array of named values, what it points to)."""
    values, kept = (_NamedValue * max(1, len(options)))(), []
    for value, (name, given) in zip(values, sorted(options.items())):
        kept.append(ctypes.create_string_buffer(name.encode()))
        value.struct_size, value.value_size = ctypes.sizeof(_NamedValue), 1
        value.name, value.name_size = ctypes.addressof(kept[-1]), len(name)
        if isinstance(given, list):
            kept.append((ctypes.c_int64 * len(given))(*given))
            value.kind, value.value_size = _INTEGERS, len(given)
            value.value.integers = ctypes.cast(kept[-1], ctypes.POINTER(ctypes.c_int64))
        elif isinstance(given, str):
            kept.append(ctypes.create_string_buffer(given.encode()))
            value.kind, value.value_size = _TEXT, len(given)
            value.value.text = ctypes.addressof(kept[-1])
        else:
            value.kind, value.value.integer = _INTEGER, given
    return values, kept


def _dictionary(pointer, count):
    """A dict of an array of named values; texts that are no UTF-8 are left out."""
    found = {}
    for value in (_NamedValue * count).from_address(pointer) if count else ():
        name = _text(value.name, value.name_size)
        if value.kind == _TEXT:
            found[name] = _text(value.value.text, value.value_size)
        elif value.kind == _INTEGERS:
            found[name] = value.value.integers[: value.value_size]
        elif value.kind == _REAL:
            found[name] = value.value.real
        else:
            found[name] = value.value.integer if value.kind == _INTEGER else value.value.truth
    return found
