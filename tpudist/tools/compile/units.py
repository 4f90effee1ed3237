"""Numbers as people read them."""

import re

_SIZE = re.compile(r"^\s*([0-9]*\.?[0-9]+)\s*(B|KiB|MiB|GiB|TiB|KB|MB|GB|TB)?\s*$", re.I)
_LETTERS = "BKMGT"
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB")
_DECIMAL = ("", "k", "M", "G", "T", "P")


def size(count):
    """Bytes: ``"15.7 GiB"``.

    Args:
      count: of bytes.
    """
    return _scaled(count, 1024, _BINARY)


def parsed(text):
    """Bytes of a text such as ``14GiB`` or ``512``.

    Args:
      text: a number, with a unit or of bytes.

    Raises:
      ValueError: it is none.
    """
    found = _SIZE.match(text)
    if not found:
        raise ValueError(text)
    unit = (found.group(2) or "B").upper()
    step = 1024 if "I" in unit else 1000
    return int(float(found.group(1)) * step ** _LETTERS.index(unit[0]))


def amount(count):
    """A plain number: ``"3.01 G"``, for FLOPs.

    Args:
      count: a number.
    """
    return _scaled(count, 1000, _DECIMAL)


def _scaled(count, step, units):
    unit = units[0]
    for larger in units[1:]:
        if abs(count) < step:
            break
        count, unit = count / step, larger
    return "%.*f %s" % (0 if unit in ("", "B") else 1 if abs(count) >= 10 else 2, count, unit)


def array(dtype, shape):
    """An array: ``"float32[8,128]"``.

    Args:
      dtype: its name.
      shape: a tuple of ints.
    """
    return "%s[%s]" % (dtype, ",".join(map(str, shape)))
