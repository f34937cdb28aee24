"""What can be done where float16 itself is the cause, and no deviation has a cure."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from ascendflow.documents.metrics import OF_THE_EXPORT
from ascendflow.report.words import shown, tightest_words
from ascendflow.terminal import printable
from ascendflow.vocabulary import HALF_MAX, MATRIX_PRODUCTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SCALING = "scale-conv"
SCALED_TO = 2.0**15
"""Half of float16's range: a sample that was not measured may reach twice as much."""

WIDE_MODES = ("force_fp32", "must_keep_origin_dtype")
"""Modes that leave nothing to keep in fp32."""

_NO_TEXT = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")
_PLAIN = re.compile(r"[A-Za-z/][\w/.-]*")


def overflow_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield what to do about values of the divergent node that float16 does not hold."""
    divergent = report["divergent_node"]
    if divergent is None or (node := divergent["overflow"]) is None:
        return
    name, largest = in_yaml(node["node"]), node["largest"]
    manifest = f"pipelines/{report['model']}/manifest.yaml"
    kept = f"`convert: {{keep_dtype: [{name}]}}`"
    is_scaled = any(
        rule["rule"] == SCALING and node["node"] in rule["applied"]
        for rule in report["rules"]
    )
    if node["op_type"] not in MATRIX_PRODUCTS or is_scaled:
        yield printable(
            f"in {manifest}, keep {name}, and each behind it that reads such values, in "
            f"fp32: {kept} beside what it names, or another `convert.precision_mode`"
        )
        return
    scale = 2 ** math.ceil(math.log2(largest / SCALED_TO))
    rule = f"{{name: {SCALING}, nodes: [{name}], scale: {scale}}}"
    yield printable(
        f"in {manifest}, `rewrite: {{rules: [auto, {rule}]}}` keeps the product below "
        f"{HALF_MAX:g} ({shown(largest)} / {scale} = {shown(largest / scale)}; its weights "
        f"must be constant); the Mul behind it, then called {name}, restores the size: "
        f"keep that, and each that reads such values, in fp32: {kept}. Where the matrix "
        "unit has fp32, as on 910B, keep_dtype does without the rule"
    )


def rounding_lines(
    failed: list[Mapping[str, Any]], report: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what to do where a limit is not met, and no node is beyond one of its own."""
    node = report["divergent_node"]
    judged = [check for check in failed if check["pair"] != OF_THE_EXPORT]
    judged = [check for check in judged if check["metric"] != "mismatch_rate"]
    if not judged or (node is not None and node["reason"] != "largest_drop"):
        return
    ways = []
    if report["target"]["precision_mode"] not in WIDE_MODES:
        ways.append(
            "another `convert.precision_mode` keeps more nodes in fp32 (`ascendflow "
            "precision` lists which)"
        )
        if node is not None:
            name = in_yaml(node["name"])
            ways.append(
                f"`convert: {{keep_dtype: [{name}]}}` keeps the one above, "
                "if a kernel takes that (its `--keep-dtype` tries it)"
            )
    limits = [
        f"{check['subject']!r} {check['metric']} {tightest_words(check)}"
        for check in judged
        if tightest_words(check)
    ]
    if limits:
        ways.append(
            "if the target's rounding cannot meet the limit, the tightest that passes is "
            + ", ".join(limits)
        )
    if ways:
        yield printable("; ".join(ways))


def in_yaml(name: str) -> str:
    """Spell a node's name as YAML takes it in a list."""
    is_plain = _PLAIN.fullmatch(name) and name.lower() not in _NO_TEXT
    return name if is_plain else json.dumps(name)
