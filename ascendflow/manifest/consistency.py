"""What must hold between keys. Works on raw data, so that one wrong type hides nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ascendflow import atc_words, vocabulary
from ascendflow.manifest import opsets
from ascendflow.manifest.atc_options import atc_options
from ascendflow.manifest.backends import named_backends
from ascendflow.manifest.infer import infer_keys
from ascendflow.manifest.paths import block, lookup
from ascendflow.manifest.precision_keys import precision_keys
from ascendflow.manifest.problems import Problem, closest_or_all, shown
from ascendflow.manifest.rules import rule_problems
from ascendflow.manifest.unread import unread_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ascendflow.manifest.problems import Keys


def _source(data: Any) -> Iterator[Problem]:
    source = block(data, "source")
    if not source.keys() <= {"torch", "onnx"}:
        return  # a misspelt key is told by itself
    if len(source) != 1 and "source" in data:
        text = "has both torch and onnx" if source else "must have torch or onnx"
        yield Problem(("source",), text, "give exactly one")
    if "onnx" in source and block(data, "export"):
        hint = "remove the block: an ONNX file keeps its own opset"
        yield Problem(("export",), "is for PyTorch, but the source is an ONNX file", hint)


def _samples(data: Any) -> Iterator[Problem]:
    samples = block(data, "samples")
    if not samples.keys() <= {"module", "factory", "arguments", "files", "random", "reads"}:
        return
    kinds = [kind for kind in ("factory", "files", "random") if kind in samples]
    if "module" in samples and "factory" not in samples:
        yield Problem(("samples", "factory"), "is missing", "name a function of the module")
    elif "factory" in samples and "module" not in samples:
        yield Problem(("samples", "module"), "is missing", "name the factory's Python file")
    elif not kinds and "samples" in data:
        yield Problem(("samples",), "must have module and factory, or files, or random")
    if len(kinds) > 1:
        yield Problem(("samples",), f"has {' and '.join(kinds)}", "give exactly one")
    if "arguments" in samples and "factory" not in samples:
        yield Problem(("samples", "arguments"), "is for a factory, and there is none")


def _input_names(data: Any) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for index, name in enumerate(_input_list(data, "name")):
        if isinstance(name, str) and first.setdefault(name, index) != index:
            text = f"is the name of inputs[{first[name]}] too, got {shown(name)}"
            yield Problem(("inputs", index, "name"), text)


def _ranges(data: Any) -> Iterator[Problem]:
    for holder in (("samples", "random"), ("export",)):
        if isinstance(lookup(data, holder), dict):
            yield from _ranges_in(data, (*holder, "ranges"))


def _ranges_in(data: Any, where: Keys) -> Iterator[Problem]:
    ranges = lookup(data, where) or {}
    named = zip(_input_list(data, "name"), _input_list(data, "dtype"), strict=True)
    inputs = {name: dtype for name, dtype in named if isinstance(name, str)}
    for name, bounds in ranges.items() if isinstance(ranges, dict) else ():
        keys: Keys = (*where, name)
        if name not in inputs:
            yield Problem(keys, "is no input's name", closest_or_all(name, inputs))
        else:
            yield from _range(keys, bounds, str(inputs[name]))


def _range(keys: Keys, bounds: Any, dtype: str) -> Iterator[Problem]:
    if not isinstance(bounds, list) or len(bounds) != 2:
        return
    low, high = bounds
    if not all(isinstance(bound, int | float) for bound in bounds):
        return
    if dtype == "bool":
        yield Problem(keys, "is for numbers, and the input is bool")
    elif low >= high:
        yield Problem(keys, f"must be [low, high) with low < high, got [{low}, {high}]")
    elif "int" in dtype:
        bits = int(dtype.lstrip("uint"))
        least, end = (
            (0, 2**bits) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1))
        )
        if not all(isinstance(bound, int) for bound in bounds):
            yield Problem(keys, f"must be two integers for {dtype}, got [{low}, {high}]")
        elif low < least or high > end:
            yield Problem(keys, f"must be within {dtype}, got [{low}, {high}]")


def _opset(data: Any) -> Iterator[Problem]:
    opset = lookup(data, ("export", "opset"))
    cann = lookup(data, ("convert", "cann"))
    if not isinstance(opset, int) or not isinstance(cann, str):
        return
    release = opsets.release_of(cann)
    low, high = opsets.window(release) if release else (opset, opset)
    if opset > high:
        text = f"must be at most {high} for CANN {cann}, got {opset}"
        yield Problem(("export", "opset"), text, f"its parser knows opset {low} to {high}")


def _soc(data: Any) -> Iterator[Problem]:
    soc = lookup(data, ("convert", "soc_version"))
    if named_backends(lookup(data, ("convert",))) == ("cann",):
        return  # the installed atc knows its own, and lint warns
    if isinstance(soc, str) and soc not in atc_words.SOC_VERSIONS:
        text = f"is no SoC that is known, got {shown(soc)}"
        hint = closest_or_all(soc, atc_words.SOC_VERSIONS)
        yield Problem(("convert", "soc_version"), text, hint)


def _thresholds(data: Any) -> Iterator[Problem]:
    outputs = lookup(data, ("gate", "outputs"))
    directions = dict(vocabulary.METRICS)
    for output, metrics in outputs.items() if isinstance(outputs, dict) else ():
        if metrics == {}:
            yield Problem(("gate", "outputs", output), "names no metric")
        for metric, threshold in metrics.items() if isinstance(metrics, dict) else ():
            keys: Keys = ("gate", "outputs", output, metric)
            if metric not in directions:
                yield Problem(keys, "is not a metric", closest_or_all(metric, directions))
            elif isinstance(threshold, dict):
                given = {bound: x for bound, x in threshold.items() if x is not None}
                yield from _threshold(keys, given, directions[metric])


def _threshold(keys: Keys, threshold: dict[str, Any], direction: str) -> Iterator[Problem]:
    right, other = ("min", "max") if direction == "higher" else ("max", "min")
    if other in threshold:
        text = f"is wrong: for {keys[-1]}, {direction} is better"
        yield Problem((*keys, other), text, f"give {right} instead")
    bound = threshold.get(right)
    if right not in threshold and threshold.keys() <= {other}:
        if other not in threshold:
            yield Problem(keys, f"must have {right}")
    elif isinstance(bound, int | float):
        if right == "min" and bound > 1:
            yield Problem((*keys, right), f"must be at most 1, got {shown(bound)}")
        if right == "max" and bound < 0:
            yield Problem((*keys, right), f"must be 0 or more, got {shown(bound)}")


def threshold_hint(keys: Keys, number: str | None) -> str | None:
    """Spell a bare number where a threshold is asked for; None where it is none."""
    direction = dict(vocabulary.METRICS).get(str(keys[-1])) if len(keys) == 4 else None
    if number is None or direction is None or keys[:2] != ("gate", "outputs"):
        return None
    return f"write {keys[-1]}: {{{'min' if direction == 'higher' else 'max'}: {number}}}"


def _end_metric(data: Any) -> Iterator[Problem]:
    if lookup(data, ("gate", "metric")) is None:
        return
    if lookup(data, ("evaluate",)) is None:
        hint = "add an evaluate block, or remove gate.metric"
        yield Problem(("gate", "metric"), "judges the end metric, and there is none", hint)
    source = block(data, "source")
    if lookup(data, ("gate", "metric", "against")) == "torch" and "onnx" in source:
        text = "must be onnx where the source is an ONNX file, got 'torch'"
        yield Problem(("gate", "metric", "against"), text)


def _names(data: Any) -> Iterator[Problem]:
    for keys in (("source", "torch"), ("samples",), ("evaluate",)):
        arguments = lookup(data, (*keys, "arguments"))
        for name in arguments if isinstance(arguments, dict) else ():
            if not name.isidentifier():
                yield Problem((*keys, "arguments", name), "is no Python name")
    environment = lookup(data, ("environment",))
    for name, value in environment.items() if isinstance(environment, dict) else ():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            yield Problem(("environment", name), "is no name of an environment variable")
        if isinstance(value, str) and "\0" in value:
            yield Problem(("environment", name), "holds a zero byte")


def _input_list(data: Any, key: str) -> list[Any]:
    inputs = lookup(data, ("inputs",))
    return [lookup(each, (key,)) for each in inputs] if isinstance(inputs, list) else []


CONSISTENCY: tuple[Callable[[Any], Iterator[Problem]], ...] = (
    _source,
    _samples,
    _input_names,
    _ranges,
    _opset,
    rule_problems,
    _soc,
    _thresholds,
    _end_metric,
    _names,
    precision_keys,
    unread_keys,
    atc_options,
    infer_keys,
)
"""Each takes the whole manifest as raw data, of which no type is certain."""
