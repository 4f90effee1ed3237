"""Records what the self-test's programs give: ``python -m tests.tools.selftest.record``.

On a virtual TPU of 8 cores and the newest TensorFlow; test_values.py holds them against
numpy, other numbers of cores and other releases.
"""

import json
import time

from tpudist import files
from tpudist.tools import selftest
from tpudist.tools.selftest import report


def recorded(lines):
    """{era: {program: {value: record}}} of what the workers said."""
    found = {}
    for line in lines:
        if line["kind"] == "failed":
            raise SystemExit(line)
        if line["kind"] == "value":
            program = found.setdefault(line["era"], {}).setdefault(line["program"], {})
            program[line["value"]] = {
                "dtype": line["dtype"],
                "shape": line["shape"],
                "values": [_short(each) for each in line["values"]],
            }
    return found


def _short(value):
    return float("%.9g" % value) if isinstance(value, float) else value


def main():
    """Writes the records."""
    made = recorded(selftest.all_surfaces("virtual:8", time.monotonic() + 600))
    lines = [
        '"%s": {\n%s\n}'
        % (
            era,
            ",\n".join(
                "%s: %s" % (json.dumps(name), json.dumps(values, sort_keys=True))
                for name, values in sorted(programs.items())
            ),
        )
        for era, programs in sorted(made.items())
    ]
    files.write(report.RECORDS, "{\n%s\n}\n" % ",\n".join(lines))


if __name__ == "__main__":
    main()
