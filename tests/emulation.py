"""Compiles a test graph with the emulator and runs it."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import onnx

from ascendflow.backends.emulator.backend import Emulator
from ascendflow.cann.lint import lint
from ascendflow.cann.target import Target
from ascendflow.errors import AscendflowError
from ascendflow.graph.load import load_model
from tests.rewriting import rewritten

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

SATURATING, IEEE = "Ascend310P3", "Ascend910B1"

_BLAMED = re.compile(r"^  node '(.+)' \(\w+\): ", re.MULTILINE)

FP32: dict[str, Any] = {"soc_version": IEEE, "precision_mode": "must_keep_origin_dtype"}
"""Where everything has an fp32 kernel, so that only the deviation is seen."""


def target(
    soc_version: str = SATURATING,
    precision_mode: str = "force_fp16",
    cann: str = "8.1",
    **settings: Any,
) -> dict[str, Any]:
    """Make the emulator's configuration; `settings` are keys of `convert`."""
    names = {"cann": cann, "soc_version": soc_version, "precision_mode": precision_mode}
    return {**names, **settings}


def convert(proto: onnx.ModelProto, folder: Path, **config: Any) -> dict[str, Any]:
    """Compile `proto` into `folder`/model; returns the conversion document."""
    onnx.save(proto, folder / "model.onnx")
    return Emulator().compile(folder / "model.onnx", folder / "model", target(**config))


def emulate(
    proto: onnx.ModelProto, feeds: Mapping[str, np.ndarray], **config: Any
) -> dict[str, np.ndarray]:
    """Compile and run on one sample; outputs by name."""
    with TemporaryDirectory() as folder:
        convert(proto, Path(folder), **config)
        (outputs,) = Emulator().infer(Path(folder) / "model", [feeds], threads=1)
        return outputs


def dump(
    proto: onnx.ModelProto, feeds: Mapping[str, np.ndarray], **config: Any
) -> dict[str, np.ndarray]:
    """Compile and run on one sample; every tensor by its ONNX name."""
    with TemporaryDirectory() as folder:
        convert(proto, Path(folder), **config)
        return dict(Emulator().dump(Path(folder) / "model", feeds, threads=1))


class Linted(NamedTuple):
    """One finding: the node's name ("" for the model), the deviation, its consequence."""

    node: str
    deviation: str
    consequence: str


def linted(proto: onnx.ModelProto, only: str | None = None, **config: Any) -> list[Linted]:
    """Lint `proto` for a target, for all deviations or one; see `target` for defaults."""
    with TemporaryDirectory() as folder:
        onnx.save(proto, Path(folder) / "model.onnx")
        findings = lint(
            load_model(Path(folder) / "model.onnx"), Target.of(target(**config))
        )
        found = [Linted(f.subject, f.deviation.name, f.found.consequence) for f in findings]
        return [each for each in found if only in (None, each.deviation)]


def why_unpredicted(proto: onnx.ModelProto, **config: Any) -> str | None:
    """Say what lint and `convert` tell otherwise of whether `proto` is refused, or None.

    What stops the one must be a finding of the other, each node by its name.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        onnx.save(proto, path)
        found = lint(load_model(path), Target.of(target(**config)))
        stopping = {each.subject for each in found if each.stops_convert}
        try:
            convert(proto, Path(folder), **config)
        except AscendflowError as error:
            named = set(_BLAMED.findall(error.message))
            if not stopping:
                return f"convert refuses what lint passes: {error.message}"
            if not named <= stopping:
                return f"lint does not name {sorted(named - stopping)}: {error.message}"
            return None
    return f"convert takes what lint says it refuses: {stopping}" if stopping else None


def cured(proto: onnx.ModelProto, *rules: str) -> onnx.ModelProto:
    """Apply rules to every node, as the rewrite stage does; each must change something."""
    done = rewritten(proto, rules)
    assert not done.idle, done.idle
    return done.model
