"""infer: the target's outputs on every sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.backends import load_backend
from ascendflow.errors import InternalError, StageError
from ascendflow.stages.pictures import with_pictures
from ascendflow.stages.sample_shapes import admits
from ascendflow.tensors import ALTERNATIVE, TensorSet, TensorWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import numpy as np

    from ascendflow.stages.stage import StageContext

SHOWN = 20


class Infer:
    """Run the compiled model on all samples; outputs only.

    Where no source says which of two things the target does, both are run.
    """

    name: ClassVar[str] = "infer"
    consumes: ClassVar[frozenset[str]] = frozenset({"samples", "golden", "model"})
    produces: ClassVar[frozenset[str]] = frozenset({"outputs"})
    computes_floats: ClassVar[bool] = True
    runs_user_code: ClassVar[bool] = False

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name what the backend runs on."""
        return load_backend(config["backend"]).run_with(config)

    def run(self, ctx: StageContext) -> None:
        """Write the outputs, sample by sample, as they come.

        Raises:
            StageError: feeds that do not fit the inputs; an output that is missing, of
                another dtype or shape than the golden, or empty where it is not. All
                such faults are listed at once.
        """
        if ctx.backend is None:
            raise InternalError("infer runs with a backend")
        feeds = TensorSet(ctx.inputs["samples"] / "feeds")
        golden = TensorSet(ctx.inputs["golden"] / "onnx")
        if feeds.ids != golden.ids:
            raise StageError(
                f"infer: samples {feeds.ids} are not the golden's {golden.ids}"
            )
        faults: list[str] = []
        folder = ctx.outputs["outputs"]
        for model in ctx.backend.behaviours(ctx.inputs["model"]).values():
            outputs = ctx.backend.infer(
                model,
                with_pictures(ctx.inputs["samples"], _checked_feeds(feeds, ctx.config)),
                threads=ctx.config["threads"],
                options=ctx.config.get("options"),
            )
            faults += _write(folder, outputs, feeds, golden)
            folder /= ALTERNATIVE
        if faults:
            more = [f"... and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []
            raise StageError(
                "\n".join([*faults[:SHOWN], *more]),
                hint="the target does not keep the model's outputs; see convert's log",
            )


def _write(
    folder: Path,
    outputs: Iterator[dict[str, np.ndarray]],
    feeds: TensorSet,
    golden: TensorSet,
) -> list[str]:
    """Write outputs as they come; return how they differ in kind from the golden's."""
    faults: list[str] = []
    done = 0
    with TensorWriter(folder) as writer:
        for number, tensors in enumerate(outputs):
            faults.extend(_faults(golden, number, tensors))
            writer.write(feeds.ids[number], tensors)
            done = number + 1
    if done != len(feeds):
        faults.append(f"infer: {len(feeds)} samples went in, {done} came out")
    return faults


def _checked_feeds(
    feeds: TensorSet, config: Mapping[str, Any]
) -> Iterator[dict[str, np.ndarray]]:
    """Read the feeds one sample at a time, and hold each to the declared inputs."""
    declared = {e["name"]: (e["dtype"], tuple(e["shape"])) for e in config["inputs"]}
    for number, sample in enumerate(feeds.ids):
        found = {spec.name: (spec.dtype, spec.shape) for spec in feeds.specs(number)}
        if found != declared and not _is_another_gear(found, declared, config):
            wrong = sorted(
                k for k in found.keys() | declared if found.get(k) != declared.get(k)
            )
            text = "; ".join(
                f"{name!r} is {found.get(name)}, declared as {declared.get(name)}"
                for name in wrong
            )
            raise StageError(f"infer: sample {sample!r} does not fit the inputs: {text}")
        yield feeds.sample(number)


def _is_another_gear(
    found: Mapping[str, tuple[str, tuple[int, ...]]],
    declared: Mapping[str, tuple[str, tuple[int, ...]]],
    config: Mapping[str, Any],
) -> bool:
    shapes = {name: shape for name, (_, shape) in found.items()}
    types = [{name: each[0] for name, each in side.items()} for side in (found, declared)]
    return types[0] == types[1] and admits(shapes, config.get("shapes", ()))


def _faults(
    golden: TensorSet, number: int, tensors: Mapping[str, np.ndarray]
) -> Iterator[str]:
    """Say how the outputs of sample `number` differ in kind from the golden's."""
    where = f"infer: sample {golden.ids[number]!r}, output"
    specs = {spec.name: spec for spec in golden.specs(number)}
    for name in sorted(specs.keys() - tensors.keys()):
        yield f"{where} {name!r} is missing"
    for name in sorted(tensors.keys() - specs.keys()):
        yield f"{where} {name!r} is not an output of the golden"
    for name, tensor in tensors.items():
        if (spec := specs.get(name)) is None:
            continue
        if tensor.size == 0 and 0 not in spec.shape:
            yield f"{where} {name!r} is empty, golden has shape {spec.shape}"
        elif tensor.shape != spec.shape:
            yield f"{where} {name!r} has shape {tensor.shape}, golden {spec.shape}"
        if tensor.dtype.name != spec.dtype:
            yield f"{where} {name!r} is {tensor.dtype.name}, golden {spec.dtype}"
