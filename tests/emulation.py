"""Compiles a test graph with the emulator and runs it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import onnx

from ascendflow.backends.emulator.backend import Emulator

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

SATURATING, IEEE = "Ascend310P3", "Ascend910B1"


def target(
    soc_version: str = SATURATING, precision_mode: str = "force_fp16", cann: str = "8.1"
) -> dict[str, str]:
    """Make the emulator's configuration."""
    return {"cann": cann, "soc_version": soc_version, "precision_mode": precision_mode}


def convert(proto: onnx.ModelProto, folder: Path, **config: str) -> dict[str, Any]:
    """Compile `proto` into `folder`/model; returns the conversion document."""
    onnx.save(proto, folder / "model.onnx")
    return Emulator().compile(folder / "model.onnx", folder / "model", target(**config))


def emulate(
    proto: onnx.ModelProto, feeds: Mapping[str, np.ndarray], **config: str
) -> dict[str, np.ndarray]:
    """Compile and run on one sample; outputs by name."""
    with TemporaryDirectory() as folder:
        convert(proto, Path(folder), **config)
        (outputs,) = Emulator().infer(Path(folder) / "model", [feeds], threads=1)
        return outputs


def dump(
    proto: onnx.ModelProto, feeds: Mapping[str, np.ndarray], **config: str
) -> dict[str, np.ndarray]:
    """Compile and run on one sample; every tensor by its ONNX name."""
    with TemporaryDirectory() as folder:
        convert(proto, Path(folder), **config)
        return dict(Emulator().dump(Path(folder) / "model", feeds, threads=1))
