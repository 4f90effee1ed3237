"""Writes the results of ``tpudist migrate`` as JSON."""

from __future__ import annotations

import argparse
import json
from typing import Any, Sequence

from tpudist.tools.migrate import findings
from tpudist.tools.migrate.findings import Finding
from tpudist.tools.migrate.outcomes import Result, Use


def as_json(results: Sequence[Result], looked: int, options: argparse.Namespace) -> str:
    """Everything, as a JSON object: ``files`` (those that matter), ``findings``, and totals."""
    whole = {
        "to": options.to,
        "level": options.level,
        "files_looked_at": looked,
        "files": list(map(_file, results)),
        "findings": list(map(_finding, findings.of(results))),
    }
    return json.dumps(whole, indent=1, sort_keys=True)


def _file(result: Result) -> dict[str, Any]:
    return {
        "path": result.path,
        "era": result.era,
        "refused": result.refused,
        "changes": result.before != result.after,
        "rewritten": list(map(_use, result.rewritten)),
        "left": list(map(_use, result.left)),
    }


def _use(use: Use) -> dict[str, Any]:
    return {name: value for name, value in use._asdict().items() if name != "path"}


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "key": finding.key,
        "said": finding.said(),
        "instead": finding.uses[0].instead,
        "places": finding.places(),
    }
