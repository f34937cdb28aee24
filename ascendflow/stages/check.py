"""check: each rule's promise, held against the samples in onnxruntime."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.documents.json_file import read_json, write_json
from ascendflow.errors import StageError
from ascendflow.graph.files import MODEL_FILE
from ascendflow.graph.promise import Difference
from ascendflow.tensors import TensorSet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ascendflow.documents.check import Check as CheckDocument
    from ascendflow.documents.rewrite_log import RewriteLog, RuleEntry
    from ascendflow.graph.fixed_shapes import Shapes
    from ascendflow.stages.stage import StageContext

Differences = dict[str, Difference]

ENLARGED = (
    "Such a rule rounds otherwise; a model that makes much of rounding, as one does that "
    "normalizes nearly constant data, may break the promise where the rule is right"
)


class Check:
    """Run the simplified and the rewritten model, and hold every rule to its promise."""

    name: ClassVar[str] = "check"
    consumes: ClassVar[frozenset[str]] = frozenset(
        {"samples", "simplified", "rewritten", "rewrite.json"}
    )
    produces: ClassVar[frozenset[str]] = frozenset({"check.json"})
    computes_floats: ClassVar[bool] = True
    runs_user_code: ClassVar[bool] = False

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG004, the protocol's
        """Name what runs both models, and what edits where rules are told apart."""
        return ("numpy", "onnx", "onnx-ir", "onnxruntime")

    def run(self, ctx: StageContext) -> None:
        """Write the differences found and the promises that held.

        Raises:
            StageError: a broken promise, naming rule, output and both values; or a lossy
                rule that the manifest does not allow.
        """
        log: RewriteLog = read_json(ctx.inputs["rewrite.json"])
        applied = [entry for entry in log["rules"] if entry["applied"]]
        if not ctx.config["allow_lossy"]:
            _refuse_lossy(applied)
        feeds = TensorSet(ctx.inputs["samples"] / "feeds")
        before = ctx.inputs["simplified"] / MODEL_FILE
        after = ctx.inputs["rewritten"] / MODEL_FILE
        whole = _differences(before, after, feeds)
        if len(applied) == 1:
            _refuse_broken(applied[0], whole, applied)
        # Together first: only where a promise is broken, or rules promise different
        # things, is a run for each rule needed.
        elif not _all_hold(applied, whole):
            gears = ctx.config.get("gears", ())
            _judge_one_by_one(before, applied, feeds, ctx.folder, gears)
        document: CheckDocument = {
            "schema_version": 1,
            "outputs": {name: found.summary() for name, found in whole.items()},
            "promises": [
                {"rule": entry["rule"], "effect": entry["effect"], "held": True}
                for entry in applied
            ],
        }
        write_json(ctx.outputs["check.json"], document)


def _refuse_lossy(applied: Sequence[RuleEntry]) -> None:
    lossy = [entry for entry in applied if entry["effect"] == "lossy"]
    if lossy:
        named = ", ".join(f"{_at(e)} (nodes: {len(e['applied'])})" for e in lossy)
        raise StageError(
            f"check: lossy, and the manifest does not allow it: {named}",
            hint="set `rewrite: {allow_lossy: true}` if the gate is to judge the loss",
        )


def _all_hold(applied: Sequence[RuleEntry], whole: Differences) -> bool:
    """Return whether `whole` alone proves every promise: the strictest holds for all."""
    effects = {entry["effect"] for entry in applied}
    strictest = next((e for e in ("exact", "equivalent") if e in effects), None)
    return strictest is None or all(d.why_broken(strictest) is None for d in whole.values())


def _judge_one_by_one(
    simplified: Path,
    applied: Sequence[RuleEntry],
    feeds: TensorSet,
    folder: Path,
    gears: Sequence[Shapes],
) -> None:
    """Apply rule after rule, each on top of those before it, and judge each by itself."""
    from ascendflow.graph.rewrite import Request, replay
    from ascendflow.stages.users_rules import load_rules

    own = load_rules(folder, [(e["file"], e["rule"]) for e in applied if e["file"]])
    requests: list[Request] = []
    with TemporaryDirectory() as scratch:
        before = simplified
        for position, entry in enumerate(applied):
            names = tuple(done["node"] for done in entry["applied"])
            arguments = entry.get("arguments", {})
            requests.append(Request(entry["rule"], names, arguments=arguments))
            after = Path(scratch) / str(position) / MODEL_FILE
            after.parent.mkdir()
            replay(simplified, after, requests, own, gears)
            found = _differences(before, after, feeds, weights=simplified.parent)
            _refuse_broken(entry, found, applied)
            before = after


def _differences(
    before: Path, after: Path, feeds: TensorSet, *, weights: Path | None = None
) -> Differences:
    """Run both models on every sample, one sample at a time."""
    from ascendflow.graph.run import OnnxModel

    golden = OnnxModel(before, threads=1, weights=weights)
    same = before.read_bytes() == after.read_bytes()
    edited = golden if same else OnnxModel(after, threads=1, weights=weights)
    found: Differences = {}
    for sample, tensors in zip(feeds.ids, feeds, strict=True):
        old = golden.run(tensors)
        new = old if same else edited.run(tensors)
        if list(old) != list(new):
            raise StageError(f"check: the outputs {list(old)} became {list(new)}")
        for name, tensor in old.items():
            found.setdefault(name, Difference()).add(sample, tensor, new[name])
    return found


def _refuse_broken(
    entry: RuleEntry, differences: Differences, applied: Sequence[RuleEntry]
) -> None:
    broken = [
        f"check: output {name!r} differs between simplified and rewritten: {why}"
        for name, difference in differences.items()
        if (why := difference.why_broken(entry["effect"])) is not None
    ]
    if broken:
        hint = (
            f"rule {_at(entry)!r} promises {entry['effect']}; rewrite.json names the nodes "
            f"it edited; {_how_without(entry, applied)}"
        )
        if entry["effect"] == "equivalent":
            hint += f". {ENLARGED}"
        raise StageError("\n".join(broken), hint=hint)


def _how_without(entry: RuleEntry, applied: Sequence[RuleEntry]) -> str:
    """Say how to do without a rule; in place of `auto` the others have to be named."""
    if not any(each["deviations"] for each in applied):
        return "leave the rule out, or limit it by `nodes:`"
    others = [each for each in applied if each["rule"] != entry["rule"]]
    named = ", ".join(dict.fromkeys(map(_as_named, others)))
    return (
        "to do without it, name the others in place of auto: "
        f"`rewrite: {{rules: [{named}]}}`; or name it too, as `{{name: {entry['rule']}, "
        "nodes: [...]}`, where it keeps its promise"
    )


def _as_named(entry: RuleEntry) -> str:
    """Spell a rule as a manifest names it, with its nodes only where it takes arguments."""
    more: dict[str, Any] = {"file": entry["file"]} if entry["file"] else {}
    if arguments := entry.get("arguments"):
        more |= {"nodes": [done["node"] for done in entry["applied"]], **arguments}
    if not more:
        return entry["rule"]
    told = ", ".join(f"{key}: {json.dumps(value)}" for key, value in more.items())
    return f"{{name: {entry['rule']}, {told}}}"


def _at(entry: RuleEntry) -> str:
    return f"{entry['rule']}@{entry['version']}"
