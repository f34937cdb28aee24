"""contrast: what the emulator predicted, against what the device did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.documents.json_file import read_json, write_json
from ascendflow.errors import InternalError
from ascendflow.graph.facts import node_facts
from ascendflow.graph.files import MODEL_FILE
from ascendflow.report.contrast import Known, contrast
from ascendflow.report.contrast_page import render
from ascendflow.tensors import ALTERNATIVE, TensorSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ascendflow.documents.contrast import OutputContrast
    from ascendflow.stages.stage import StageContext

DOCUMENTS = ("verdict.json", "metrics.json", "conversion.json", "lint.json")


class Contrast:
    """Write contrast.json, which is made to be sent, and a page of it for people."""

    name: ClassVar[str] = "contrast"
    consumes: ClassVar[frozenset[str]] = frozenset(
        {"simplified", "*/outputs", *(f"*/{role}" for role in DOCUMENTS)}
    )
    produces: ClassVar[frozenset[str]] = frozenset({"contrast.json", "contrast.html"})
    computes_floats: ClassVar[bool] = True
    runs_user_code: ClassVar[bool] = False

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG004 - the seam's
        """Name what compares the outputs, and the template engine."""
        return ("jinja2", "ml_dtypes", "numpy", "onnx")

    def run(self, ctx: StageContext) -> None:
        """Join what both backends left."""
        predicted, measured = _sides(ctx)
        ours, theirs = (
            {role: read_json(ctx.inputs[f"{side}/{role}"]) for role in DOCUMENTS}
            for side in (predicted, measured)
        )
        emulated = ctx.inputs[f"{predicted}/outputs"]
        behaviours = ours["metrics.json"].get("behaviours", {"names": [""]})
        folders = (emulated, emulated / ALTERNATIVE)
        device = TensorSet(ctx.inputs[f"{measured}/outputs"])
        known = Known(
            model=ctx.config["model"],
            samples=len(device),
            outputs=[
                found
                for name, folder in zip(behaviours["names"], folders, strict=False)
                for found in _outputs(name, folder, device)
            ],
            facts=node_facts(ctx.inputs["simplified"] / MODEL_FILE),
            not_emulated=ctx.config["not_emulated"],
        )
        document = contrast(ours, theirs, known)
        write_json(ctx.outputs["contrast.json"], document)
        ctx.outputs["contrast.html"].write_text(render(document), encoding="utf-8")


def _sides(ctx: StageContext) -> tuple[str, str]:
    """Name the backend that predicts and the one that a device runs."""
    real: dict[bool, str] = {}
    for backend in ctx.config["backends"]:
        conversion = read_json(ctx.inputs[f"{backend}/conversion.json"])
        real[conversion["is_real_device"] is True] = backend
    if real.keys() != {True, False}:
        raise InternalError("contrast is of one emulation and one device")
    return real[False], real[True]


def _outputs(behaviour: str, emulated: Path, device: TensorSet) -> Iterator[OutputContrast]:
    """Compare the device's outputs with the emulated ones, over all samples."""
    from ascendflow.metrics.nodes import NodeTable, Origin

    table, names = NodeTable(), dict[str, None]()
    ours = TensorSet(emulated)
    for index in range(len(device)):
        for spec in device.specs(index):
            names[spec.name] = None
            theirs = device.load(index, spec.name)
            table.add(spec.name, ours.load(index, spec.name), theirs)
    for row in table.result([Origin(name, "", "", ()) for name in names], {}):
        yield {
            "name": row["tensor"],
            "behaviour": behaviour,
            "metrics": row["metrics"],
            "problem": row["problem"],
        }
