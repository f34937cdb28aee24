"""Runs stages in this process, one after the other, in a folder of their own."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from ascendflow.backends import load_backend
from ascendflow.stages import load_stage
from ascendflow.stages.stage import Findings, StageContext
from ascendflow.tensors import TensorSet, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Mapping
TARGET = {
    "backend": "emulator",
    "cann": "8.1",
    "soc_version": "Ascend310P3",
    "precision_mode": "force_fp16",
}


@dataclass
class Pipeline:
    """A model's folder, and what its stages have made so far."""

    folder: Path
    build: Path
    inputs: list[dict[str, Any]] = field(default_factory=list)
    roots: dict[str, Path] = field(default_factory=dict)
    findings: dict[str, Findings] = field(default_factory=dict)

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
            backend=load_backend(str(config["backend"])) if "backend" in config else None,
            seed=0,
            findings=Findings(),
            roots=self.roots,
        )
        stage().run(context)
        self.findings[name] = context.findings
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

    def judge(
        self,
        *rules: str,
        allow_lossy: bool = False,
        gate: Mapping[str, Any] | None = None,
        evaluate: Mapping[str, Any] | None = None,
        drop: Mapping[str, Any] | None = None,
        **target: str,
    ) -> dict[str, Any]:
        """Take the simplified model to the emulator and return its verdict.

        Args:
            rules: what rewrites it.
            allow_lossy: whether those may change values.
            gate: output or "*" -> thresholds; absent: the defaults.
            evaluate: the manifest's end metric.
            drop: what the gate asks of that.
            target: `soc_version`, `precision_mode`, where not 310P3 and force_fp16.
        """
        self.run("rewrite", rules=[{"name": name} for name in rules])
        self.run("check", allow_lossy=allow_lossy)
        config: dict[str, Any] = {**TARGET, **target}
        self.run("convert", **config)
        self.run("infer", backend="emulator", threads=1)
        self.run("compare", backend="emulator", threads=1, node_samples=1)
        self.run("evaluate", metric=evaluate)
        self.run("gate", model="net", outputs=gate, metric=drop)
        return self.document("verdict.json")

    def golden_of(self, output: str = "y") -> np.ndarray:
        """The exported model's output on the first sample."""
        return TensorSet(self.made("golden") / "onnx").load(0, output)

    def emulated(self, output: str = "y") -> np.ndarray:
        """The target's output on the first sample."""
        return TensorSet(self.made("outputs")).load(0, output)

    def document(self, role: str) -> dict[str, Any]:
        """Read what a stage wrote of itself."""
        found: dict[str, Any] = json.loads(self.made(role).read_text())
        return found

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


def simplified(tmp_path: Path, proto: onnx.ModelProto, **fed: np.ndarray) -> Pipeline:
    """Take a model up to its simplified form, on one sample."""
    specs = [TensorSpec(name, array.dtype.name, array.shape) for name, array in fed.items()]
    made = pipeline(tmp_path, specs)
    made.sample(fed)
    made.ingest(proto)
    made.golden()
    made.simplify()
    return made
