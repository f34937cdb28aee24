"""Compiles a test graph with the emulator and runs it."""

from __future__ import annotations

import re
from contextlib import contextmanager
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
    from collections.abc import Iterator, Mapping

    import numpy as np

    from ascendflow.cann.lint import Finding

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
        found = _named(_lint(proto, Path(folder), **config))
        return [each for each in found if only in (None, each.deviation)]


def _lint(proto: onnx.ModelProto, folder: Path, **config: Any) -> list[Finding]:
    onnx.save(proto, folder / "model.onnx")
    return [*lint(load_model(folder / "model.onnx"), Target.of(target(**config)))]


def _named(found: list[Finding]) -> list[Linted]:
    return [Linted(f.subject, f.deviation.name, f.found.consequence) for f in found]


class Trial:
    """A model that was linted and compiled for a target, once each.

    Attributes:
        findings: what lint says.
        refusal: what `convert` says instead of compiling it.
        why_unpredicted: what the two tell otherwise of whether it is refused. What stops
            the one must be a finding of the other, each node by its name.
    """

    def __init__(self, proto: onnx.ModelProto, folder: Path, **config: Any) -> None:
        self._model = folder / "model"
        found = _lint(proto, folder, **config)
        self.findings = _named(found)
        self.refusal: AscendflowError | None = None
        try:
            convert(proto, folder, **config)
        except AscendflowError as error:
            self.refusal = error
        stopping = {each.subject for each in found if each.stops_convert}
        self.why_unpredicted = _why_unpredicted(stopping, self.refusal)

    def outputs(self, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Run on one sample, or raise what `convert` raised; outputs by name."""
        if self.refusal is not None:
            raise self.refusal
        (outputs,) = Emulator().infer(self._model, [feeds], threads=1)
        return outputs


@contextmanager
def tried(proto: onnx.ModelProto, **config: Any) -> Iterator[Trial]:
    """Try `proto` for a target; see `target` for defaults."""
    with TemporaryDirectory() as folder:
        yield Trial(proto, Path(folder), **config)


def _why_unpredicted(stopping: set[str], refusal: AscendflowError | None) -> str | None:
    if refusal is None:
        return f"convert takes what lint says it refuses: {stopping}" if stopping else None
    named = set(_BLAMED.findall(refusal.message))
    if not stopping:
        return f"convert refuses what lint passes: {refusal.message}"
    if not named <= stopping:
        return f"lint does not name {sorted(named - stopping)}: {refusal.message}"
    return None


def cured(proto: onnx.ModelProto, *rules: str) -> onnx.ModelProto:
    """Apply rules to every node, as the rewrite stage does; each must change something."""
    done = rewritten(proto, rules)
    assert not done.idle, done.idle
    return done.model
