"""What can be done where rounding or the export is the cause: no deviation has a cure."""

from __future__ import annotations

import json
import math
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from ascendflow.documents.metrics import OF_THE_EXPORT
from ascendflow.report.words import shown, tightest_words
from ascendflow.terminal import printable
from ascendflow.vocabulary import HALF_MAX, MATRIX_PRODUCTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SCALING = "scale-conv"
SCALED_TO = 2.0**15
"""Half of float16's range: a sample that was not measured may reach twice as much."""

WIDE_MODES = ("force_fp32", "must_keep_origin_dtype")
"""Modes that leave nothing to keep in fp32."""

FLOAT32_ROUNDING = 1e-6
"""Part of an output's range: a few steps of 6e-8, as sums in another order differ by."""

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
        if node["keepable"] is False:
            yield printable(
                f"no kernel of {report['target']['soc_version']} keeps {name} in fp32: let "
                "the model make its values smaller before it"
            )
            return
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
        f"keep that, and each that reads such values, in fp32: {kept}. "
        + _without_the_rule(node["keepable"], report["target"]["soc_version"])
    )


def _without_the_rule(keepable: bool | None, soc: str) -> str:
    """Say whether keep_dtype alone helps a product."""
    if keepable is None:
        return (
            "Where the matrix unit has fp32, as on 910B, keep_dtype does without the rule"
        )
    if keepable:
        return f"The matrix unit of {soc} has fp32: there keep_dtype does without the rule"
    return f"Without the rule that is refused: the matrix unit of {soc} has no fp32 for it"


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
            "another `convert.precision_mode` may keep more nodes in fp32, or be refused "
            f"on {report['target']['soc_version']} (`ascendflow precision --precision-mode "
            "MODE` says which)"
        )
        if node is not None and node["keepable"] is not False:
            name = in_yaml(node["name"])
            unsure = "" if node["keepable"] else ", if a kernel takes that"
            ways.append(
                f"`convert: {{keep_dtype: [{name}]}}` keeps the one above{unsure} (its "
                "`--keep-dtype` tries it, and says whether that moves it to AI CPU)"
            )
    limits = [
        f"{check['subject']!r} {check['metric']} {tightest_words(check)}"
        for check in _loosest(judged)
        if tightest_words(check)
    ]
    if limits:
        ways.append(
            "if the target's rounding cannot meet the limit, the tightest that passes is "
            + ", ".join(limits)
        )
    if ways:
        yield printable("; ".join(ways))


def export_lines(
    failed: list[Mapping[str, Any]], report: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what to do about checks that the target has no part in."""
    judged = [check for check in failed if check["pair"] == OF_THE_EXPORT]
    rounded = [check for check in judged if _is_float32_rounding(check, report)]
    if len(rounded) < len(judged):
        yield (
            "in torch-onnx the target has no part: the exported model is not close enough "
            "to PyTorch; try another export.exporter or export.opset (a tighter "
            "export.max_relative_error would stop at the golden stage)"
        )
    if rounded:
        limits = [
            f"{check['subject']!r} {check['metric']} {tightest_words(check)}"
            for check in _loosest(rounded)
        ]
        yield printable(
            "in torch-onnx the exported model differs from PyTorch by float32's own "
            "rounding: such a limit is below that, whatever the exporter or opset; the "
            f"tightest that passes there is {', '.join(limits)}"
        )


def _is_float32_rounding(check: Mapping[str, Any], report: Mapping[str, Any]) -> bool:
    """Whether an output is as near to PyTorch's as float32 can be held to, of its range."""
    if check["problem"] is not None or not tightest_words(check):
        return False
    return any(
        metric["metric"] == "range_relative_error"
        and not isinstance(metric["worst"], str)
        and metric["worst"] < FLOAT32_ROUNDING
        for output in report["outputs"]
        if (output["pair"], output["name"]) == (OF_THE_EXPORT, check["subject"])
        for metric in output["metrics"]
    )


def _loosest(checks: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield of each limit the check that needs it widest: one limit holds for each pair."""
    found: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for check in checks:
        (bound,) = check["threshold"]
        key = (check["subject"], check["metric"], bound)
        found[key] = max(found.get(key, check), check, key=partial(_width, bound))
    yield from found.values()


def _width(bound: str, check: Mapping[str, Any]) -> float:
    """Rank limits by how much they allow; one that nothing passes is the widest."""
    tightest: float | None = check["tightest"]
    if tightest is None:
        return math.inf
    return -tightest if bound == "min" else tightest


def in_yaml(name: str) -> str:
    """Spell a node's name as YAML takes it in a list."""
    is_plain = _PLAIN.fullmatch(name) and name.lower() not in _NO_TEXT
    return name if is_plain else json.dumps(name)
