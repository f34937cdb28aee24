"""golden: the trusted outputs, of PyTorch and of the exported model, on every sample."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.documents.json_file import write_json
from ascendflow.errors import StageError
from ascendflow.graph.doubles import InFloat32
from ascendflow.graph.empties import why_disputed
from ascendflow.graph.files import MODEL_FILE
from ascendflow.graph.run import OnnxModel
from ascendflow.stages.agreement import (
    Agreement,
    compare_outputs,
    refuse_beyond,
    why_not_finite,
)
from ascendflow.stages.unchanging import Unchanging
from ascendflow.tensors import TensorSet, TensorWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import numpy as np
    import torch

    from ascendflow.documents.golden import GoldenDocument, OutputSpec
    from ascendflow.stages.stage import StageContext

    Outputs = dict[str, np.ndarray]
    Runner = Callable[[Mapping[str, np.ndarray]], Outputs]

NO_ROUNDING = 0.1
"""Error relative to the output's range that no other order of operations explains."""


class Golden:
    """Run every sample through PyTorch, where there is any, and through onnxruntime."""

    name: ClassVar[str] = "golden"
    consumes: ClassVar[frozenset[str]] = frozenset({"samples", "exported"})
    produces: ClassVar[frozenset[str]] = frozenset({"golden", "golden.json"})
    computes_floats: ClassVar[bool] = True
    runs_user_code: ClassVar[bool] = True

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name what computes the outputs."""
        own = ("numpy", "onnx", "onnxruntime")
        return (*own, "torch") if config.get("torch") else own

    def run(self, ctx: StageContext) -> None:
        """Write the tensor sets `golden/onnx` and `golden/torch`, and golden.json.

        Raises:
            StageError: an output is not finite, PyTorch and ONNX return different
                outputs, or they differ beyond `export.max_relative_error`.
        """
        feeds = TensorSet(ctx.inputs["samples"] / "feeds")
        path = ctx.inputs["exported"] / MODEL_FILE
        model = OnnxModel(path, threads=1)
        network = _network(ctx) if ctx.config.get("torch") else None
        torch_run = None if network is None else _torch_runner(ctx, model, network)
        agreements: dict[str, Agreement] = {}
        constant = Unchanging()
        outputs: Outputs = {}
        with ExitStack() as stack:
            narrow = stack.enter_context(InFloat32(path))
            written = {
                kind: stack.enter_context(TensorWriter(ctx.outputs["golden"] / kind))
                for kind in (("torch", "onnx") if torch_run else ("onnx",))
            }
            for sample, fed in zip(feeds.ids, feeds, strict=True):
                outputs = _finite(model.run(fed), "the exported model", sample)
                _undisputed(path, fed, outputs, sample)
                written["onnx"].write(sample, outputs)
                constant.add(fed, outputs)
                narrow.add(sample, fed, outputs)
                if torch_run is not None:
                    trusted = _finite(torch_run(fed), "PyTorch", sample)
                    written["torch"].write(sample, trusted)
                    where = f"the exported model, sample {sample!r},"
                    compare_outputs(agreements, trusted, outputs, where=where)
        if model.note:
            ctx.findings.warnings.append(model.note)
        ctx.findings.warnings += [*constant.warnings(model.attempt), *narrow.warnings()]
        _refuse_far(ctx, agreements, network)
        _write_document(ctx, model, outputs, agreements)


def _network(ctx: StageContext) -> torch.nn.Module:
    """Build the user's model, for the same outputs in every run."""
    import torch

    from ascendflow.pytorch.model import build_model

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(mode=True, warn_only=True)
    return build_model(ctx.folder, ctx.config["torch"], ctx.files.get("weights"), ctx.seed)


def _torch_runner(ctx: StageContext, model: OnnxModel, network: torch.nn.Module) -> Runner:
    """Return a function that runs the user's model and names outputs as ONNX does."""
    import torch

    from ascendflow.factories import users_code
    from ascendflow.pytorch.arrays import named_outputs, to_numpy
    from ascendflow.pytorch.call import call_of

    call = call_of(network, [entry["name"] for entry in ctx.config["inputs"]])
    names = [spec.name for spec in model.outputs]

    def run(feeds: Mapping[str, np.ndarray]) -> Outputs:
        positional, named = call.arguments(feeds)
        with users_code("the PyTorch model"), torch.no_grad():
            found = list(named_outputs(network(*positional, **named)).values())
        if len(found) != len(names):
            raise StageError(
                f"PyTorch returns {len(found)} outputs, the exported model {len(names)}: "
                f"{', '.join(map(repr, names))}"
            )
        return {n: to_numpy(tensor) for n, tensor in zip(names, found, strict=True)}

    return run


def _refuse_far(
    ctx: StageContext,
    agreements: Mapping[str, Agreement],
    network: torch.nn.Module | None,
) -> None:
    refuse_beyond(
        agreements,
        ctx.config["max_relative_error"],
        what="PyTorch and the exported model differ",
        key="export.max_relative_error",
        explain=lambda worst: _why_far(worst, network),
    )


def _why_far(worst: float, network: torch.nn.Module | None) -> str | None:
    """Name the usual causes of an error that no rounding makes, asking the model itself."""
    from ascendflow.pytorch.model import training_part

    if network is None or worst <= NO_ROUNDING:
        return None
    if (part := training_part(network)) is not None:
        return (
            f"after the run, {part} is in training mode, which makes such differences: "
            "let forward() and train() leave it in inference mode, as eval() put it"
        )
    return (
        "no rounding differs so much: look for random draws (torch.rand, dropout with "
        "training=True), a branch on values that the exporter froze (see the warnings of "
        "export), or what the model keeps from one call to the next"
    )


def _finite(outputs: Outputs, whose: str, sample: str) -> Outputs:
    for name, array in outputs.items():
        if (reason := why_not_finite(array)) is not None:
            raise StageError(
                f"output {name!r} of {whose} {reason}, sample {sample!r}",
                hint="a golden must be finite: look for empty windows, overflow or 0/0",
            )
    return outputs


def _undisputed(
    path: Path, feeds: Mapping[str, np.ndarray], outputs: Outputs, sample: str
) -> None:
    if (reason := why_disputed(path, feeds, outputs)) is not None:
        raise StageError(
            f"{reason}, sample {sample!r}",
            hint="an input is empty, where older runtimes err: update onnxruntime",
        )


def _write_document(
    ctx: StageContext,
    model: OnnxModel,
    outputs: Outputs,
    agreements: Mapping[str, Agreement],
) -> None:
    specs: dict[str, OutputSpec] = {
        name: {"dtype": array.dtype.name, "shape": list(array.shape)}
        for name, array in outputs.items()
    }
    document: GoldenDocument = {
        "schema_version": 1,
        "runtime": model.runtime,
        "graph_optimization": "off",
        "has_torch": bool(ctx.config.get("torch")),
        "torch_onnx": {name: a.document() for name, a in agreements.items()},
        "outputs": specs,
    }
    write_json(ctx.outputs["golden.json"], document)
