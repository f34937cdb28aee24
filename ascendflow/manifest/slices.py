"""What each stage is told of the manifest: a slice of plain JSON data, defaults filled in.

A slice is part of its stage's key, so that it holds what the stage needs and no more:
a new threshold must not export again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow import vocabulary
from ascendflow.manifest import opsets
from ascendflow.manifest.atc_options import SHARED_FILES
from ascendflow.manifest.models import Export
from ascendflow.manifest.shape_slices import admitted, gears, inputs, inputs_and_open
from ascendflow.manifest.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from ascendflow.manifest.models import Evaluate, Manifest, RuleUse, TorchSource

DEFAULT_FLOAT = {"cosine_similarity": {"min": 0.999}}
DEFAULT_DISCRETE = {"mismatch_rate": {"max": 0}}


def _aipp(manifest: Manifest) -> dict[str, Any]:
    """Return how pictures are prepared, where any are."""
    blocks = manifest.convert.aipp or {}
    spelled = {
        name: block.model_dump(mode="json", exclude_none=True)
        for name, block in blocks.items()
    }
    return {"aipp": spelled} if spelled else {}


def _torch(torch: TorchSource | None) -> dict[str, Any] | None:
    if torch is None:
        return None
    weights = torch.weights
    return {
        "module": torch.module,
        "factory": torch.factory,
        "arguments": torch.arguments,
        "weights": weights and {"key": weights.key, "strip_prefix": weights.strip_prefix},
    }


def _samples(manifest: Manifest) -> dict[str, Any]:
    given = manifest.samples
    if given.random is not None:
        samples: dict[str, Any] = {"random": given.random.model_dump(mode="json")}
    elif given.files is not None:
        samples = {"files": given.files}
    else:
        names = {"module": given.module, "factory": given.factory}
        samples = {**names, "arguments": given.arguments}
    made = {"inputs": inputs(manifest), "samples": samples, "reads": list(given.reads)}
    return {**made, **admitted(manifest), **_aipp(manifest)}


def _export(manifest: Manifest) -> dict[str, Any]:
    torch = manifest.source.torch
    export = manifest.export or Export()
    opset = export.opset or _default_opset(manifest.convert.cann)
    return {
        "inputs": inputs_and_open(manifest),
        "torch": _torch(torch),
        "onnx": torch is None,
        "opset": None if torch is None else opset,
        "exporter": None if torch is None else export.exporter,
        **_cut(manifest),
        **_example_ranges(manifest),
    }


def _example_ranges(manifest: Manifest) -> dict[str, Any]:
    """Return from where the values come that a PyTorch model is run on to be exported."""
    random, own = manifest.samples.random, (manifest.export or Export()).ranges
    ranges = {**(random.ranges if random else {}), **own}
    return {"ranges": ranges} if ranges and manifest.source.torch else {}


def _cut(manifest: Manifest) -> dict[str, Any]:
    """Return where the graph is cut, if it is."""
    named = manifest.convert.out_nodes
    return {"out_nodes": list(named)} if named else {}


def _default_opset(cann: str) -> int:
    release = opsets.release_of(cann)
    return opsets.SURE if release is None else opsets.highest_sure(release)


def _golden(manifest: Manifest) -> dict[str, Any]:
    return {
        "inputs": inputs(manifest),
        "torch": _torch(manifest.source.torch),
        "max_relative_error": (manifest.export or Export()).max_relative_error,
    }


def _simplify(manifest: Manifest) -> dict[str, Any]:
    settings = manifest.simplify.model_dump(mode="json")
    return {**settings, "inputs": inputs_and_open(manifest)}


def _rewrite(manifest: Manifest) -> dict[str, Any]:
    # The order of application is the vocabulary's, so the manifest's is no difference.
    order = [rule for rule, _ in vocabulary.RULES]
    given = [rule for rule in manifest.rewrite.rules if rule.name != vocabulary.AUTO]
    ours = [rule for rule in given if rule.file is None]
    rules = sorted(ours, key=lambda rule: order.index(rule.name))
    rules += [rule for rule in given if rule.file is not None]
    auto = len(given) < len(manifest.rewrite.rules)
    return {
        "rules": [_rule(rule) for rule in rules],
        # Of the target only `auto` depends.
        "auto": _target(manifest) if auto else None,
        "users_code": _rule_files(manifest),
        **(gears(manifest) if manifest.rewrite.rules else {}),
    }


def _rule_files(manifest: Manifest) -> list[str]:
    return sorted({rule.file for rule in manifest.rewrite.rules if rule.file is not None})


def _rule(rule: RuleUse) -> dict[str, Any]:
    given = rule.model_dump(mode="json", exclude={"scale"})
    return given if rule.scale is None else {**given, "arguments": {"scale": rule.scale}}


def _check(manifest: Manifest) -> dict[str, Any]:
    return {
        "allow_lossy": manifest.rewrite.allow_lossy,
        "users_code": _rule_files(manifest),
        **(gears(manifest) if manifest.rewrite.rules else {}),
    }


def _backend(manifest: Manifest) -> str:
    """Return the backend of a manifest that names one."""
    (backend,) = manifest.convert.backend
    return backend


def _convert(manifest: Manifest) -> dict[str, Any]:
    backend = {"backend": _backend(manifest), **_target(manifest)}
    if _backend(manifest) != "cann":
        return backend
    options = manifest.convert.model_dump(
        mode="json", exclude_none=True, exclude={*Target.model_fields}
    )
    return {**backend, "inputs": inputs(manifest), "options": options}


def _target(manifest: Manifest) -> dict[str, Any]:
    # Equal modes of two spellings are one: what they make is the same.
    left_out = {"backend", "precision_mode_v2"}
    spelled = manifest.convert.model_dump(
        mode="json", include={*Target.model_fields} - left_out
    )
    # What a file says is read by the stages that get it.
    for key, nothing in SHARED_FILES.items():
        if isinstance(spelled[key], str):
            spelled[key] = nothing
    return {**spelled, "precision_mode": manifest.convert.precision}


def _lint(manifest: Manifest) -> dict[str, Any]:
    emulated = _backend(manifest) == "emulator"
    return {**_target(manifest), "emulated": emulated, **gears(manifest)}


def _infer(manifest: Manifest) -> dict[str, Any]:
    given = manifest.infer
    shared = {
        "backend": _backend(manifest),
        "threads": given.threads,
        "inputs": inputs(manifest),
        **admitted(manifest),
    }
    if _backend(manifest) != "cann":
        return shared
    return {**shared, "options": _device(manifest)}


def _device(manifest: Manifest) -> dict[str, Any]:
    """Return where and with what an OM is run."""
    given = manifest.infer
    return {
        **given.model_dump(mode="json", exclude={"threads"}),
        "python": given.python or manifest.convert.python,
        "toolkit": given.toolkit or manifest.convert.toolkit,
    }


def _compare(manifest: Manifest) -> dict[str, Any]:
    shared = {
        "backend": _backend(manifest),
        "threads": manifest.infer.threads,
        "node_samples": manifest.compare.node_samples,
    }
    if _backend(manifest) != "cann":
        return shared
    given = manifest.compare
    options = {**_device(manifest), "dump_gb": given.dump_gb}
    return {**shared, "options": options, "nodes_by": given.nodes_by}


def _evaluate(manifest: Manifest) -> dict[str, Any]:
    metric = manifest.evaluate
    return {"metric": metric and metric.model_dump(mode="json")}


def _gate(manifest: Manifest) -> dict[str, Any]:
    metric = manifest.gate.metric
    return {
        "model": manifest.model,
        "outputs": _thresholds(manifest),
        "metric": metric and metric.model_dump(mode="json"),
        "direction": manifest.evaluate and manifest.evaluate.direction,
    }


def _thresholds(manifest: Manifest) -> dict[str, Any]:
    """Fill in "*": what a user names no threshold for is still judged.

    Case 1: no "*". Case 2: "*" names nothing that applies to floats. Case 3: "*" names
    nothing that applies to integers and bools.
    """
    outputs = {
        output: {
            metric: threshold.model_dump(mode="json", exclude_none=True)
            for metric, threshold in metrics.items()
        }
        for output, metrics in manifest.gate.outputs.items()
    }
    everywhere = outputs.get("*", {})
    if not everywhere.keys() - DEFAULT_DISCRETE:
        everywhere = {**DEFAULT_FLOAT, **everywhere}
    return {**outputs, "*": {**DEFAULT_DISCRETE, **everywhere}}


def _report(manifest: Manifest) -> dict[str, Any]:
    return {"model": manifest.model, "metric": _metric_name(manifest.evaluate)}


def _contrast(manifest: Manifest) -> dict[str, Any]:
    """Return all backends, and the keys that an emulation leaves out, by their names."""
    told = manifest.convert.model_dump(exclude_none=True)
    unread = told.keys() - Target.model_fields.keys() - {"toolkit", "python"}
    return {
        "model": manifest.model,
        "backends": list(manifest.convert.backend),
        "not_emulated": sorted(unread),
    }


def _metric_name(metric: Evaluate | None) -> dict[str, str] | None:
    return {"name": metric.factory, "direction": metric.direction} if metric else None


SLICES: dict[str, Callable[[Manifest], dict[str, Any]]] = {
    "samples": _samples,
    "export": _export,
    "golden": _golden,
    "simplify": _simplify,
    "rewrite": _rewrite,
    "check": _check,
    "lint": _lint,
    "convert": _convert,
    "infer": _infer,
    "compare": _compare,
    "evaluate": _evaluate,
    "gate": _gate,
    "report": _report,
    "contrast": _contrast,
}
"""Stage -> its slice of the manifest."""
