"""Numbers as people read them."""

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB")
_DECIMAL = ("", "k", "M", "G", "T", "P")


def size(count):
    """Bytes: ``"15.7 GiB"``.

    Args:
      count: of bytes.
    """
    return _scaled(count, 1024, _BINARY)


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
