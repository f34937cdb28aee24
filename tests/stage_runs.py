"""Runs stages in this process, one after the other, in a folder of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from ascendflow.stages import load_stage
from ascendflow.stages.stage import Findings, StageContext

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.tensors import TensorSpec


@dataclass
class Pipeline:
    """A model's folder, and what its stages have made so far."""

    folder: Path
    build: Path
    inputs: list[dict[str, Any]] = field(default_factory=list)
    roots: dict[str, Path] = field(default_factory=dict)

    def run(
        self,
        name: str,
        files: Mapping[str, Path] | None = None,
        **config: Any,
    ) -> Findings:
        """Run one stage on what the stages before it made."""
        stage = load_stage(name)
        out = self.build / name
        out.mkdir(parents=True)
        context = StageContext(
            config={"inputs": self.inputs, **config},
            inputs={role: self.made(role) for role in stage.consumes},
            files=files or {},
            outputs={role: out / role for role in stage.produces},
            folder=self.folder,
            backend=None,
            seed=0,
            findings=Findings(),
            roots=self.roots,
        )
        stage().run(context)
        return context.findings

    def made(self, role: str) -> Path:
        """Find an artifact by its role."""
        (path,) = self.build.glob(f"*/{role}")
        return path

    def sample(self, *feeds: Mapping[str, np.ndarray]) -> None:
        """Make the samples from arrays."""
        (self.folder / "inputs").mkdir(parents=True)
        for number, fed in enumerate(feeds):
            arrays: dict[str, Any] = dict(fed)
            np.savez(self.folder / "inputs" / f"s{number}.npz", **arrays)
        self.run("samples", samples={"files": "inputs/*.npz"})

    def ingest(self, proto: onnx.ModelProto | Path) -> Findings:
        """Export a model that is ONNX already."""
        path = proto if isinstance(proto, Path) else self.folder / "source.onnx"
        if isinstance(proto, onnx.ModelProto):
            path.write_bytes(proto.SerializeToString())
        return self.run("export", {"source": path}, torch=None, onnx=True, opset=None)

    def golden(self, **config: Any) -> Findings:
        """Make the golden; without PyTorch unless `torch` is given."""
        return self.run("golden", **{"torch": None, "max_relative_error": 1e-3, **config})

    def simplify(self, **config: Any) -> Findings:
        """Simplify, unless `enabled` is given as False."""
        return self.run(
            "simplify", **{"enabled": True, "max_relative_error": 1e-4, **config}
        )


def pipeline(tmp_path: Path, specs: list[TensorSpec]) -> Pipeline:
    """Make an empty pipeline folder for a model with these inputs."""
    folder = tmp_path / "pipelines" / "net"
    folder.mkdir(parents=True)
    inputs = [{"name": s.name, "dtype": s.dtype, "shape": list(s.shape)} for s in specs]
    return Pipeline(folder, tmp_path / "build", inputs)
