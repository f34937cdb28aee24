"""What lint found, as SARIF 2.1.0, which code hosts and editors show.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ascendflow import __version__
from ascendflow.report.findings import blamed, cure_words, level

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.documents.lint import Lint, LintFinding

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(path: Path, lint: Lint) -> dict[str, Any]:
    """Return the log of one run over the model at `path`; one rule for each deviation."""
    order = {name: index for index, name in enumerate(lint["deviations"])}
    uri = _uri(path)
    target = {
        "cann": lint["cann"],
        "soc_version": lint["soc_version"],
        "precision_mode": lint["precision_mode"],
    }
    driver = {
        "name": "ascendflow",
        "version": __version__,
        "rules": [_rule(name, lint) for name in order],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": uri}}],
        "results": [_result(f, order[f["deviation"]], uri) for f in lint["findings"]],
        "properties": {"target": target, "totals": lint["totals"]},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(name: str, lint: Lint) -> dict[str, Any]:
    text = lint["deviations"][name]
    found = next(f for f in lint["findings"] if f["deviation"] == name)
    return {
        "id": name,
        "shortDescription": {"text": text["cann"]},
        "fullDescription": {"text": f"ONNX: {text['onnx']} CANN: {text['cann']}"},
        "help": {"text": f"rule: {found['rule'] or 'none'}; read in: {found['source']}"},
        "defaultConfiguration": {"level": level(found)},
    }


def _result(found: LintFinding, index: int, uri: str) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": uri, "index": 0}}
    }
    if found["node"] is not None:
        node = {"fullyQualifiedName": found["node"], "kind": "node"}
        location["logicalLocations"] = [node]
    said = (
        *("consequence", "stops_convert", "confidence", "source"),
        *("rule", "skipped", "advice", "op_type"),
    )
    return {
        "ruleId": found["deviation"],
        "ruleIndex": index,
        "level": level(found),
        "message": {"text": f"{blamed(found)}: {found['reason']}; {cure_words(found)}"},
        "locations": [location],
        "properties": {key: found[key] for key in said},  # type: ignore[literal-required]
    }


def _uri(path: Path) -> str:
    """Return a reference to `path`, whatever bytes it has; relative where `path` is."""
    quoted = quote(os.fsencode(path.as_posix()))
    return f"file://{quoted}" if path.is_absolute() else quoted
