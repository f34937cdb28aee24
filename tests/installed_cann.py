"""The CANN that variables name, and what it makes of small models."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from ascendflow.backends.cann.backend import Cann
from ascendflow.backends.cann.toolkit import find_toolkit
from ascendflow.backends.emulator.backend import Emulator
from ascendflow.errors import NotModelledError
from ascendflow.manifest.opsets import release_of
from tests.emulation import target
from tests.toolkits import config

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.backends.cann.toolkit import Toolkit

TOOLKIT = "ASCENDFLOW_CANN"
"""The folder of a CANN, as `convert.toolkit`."""
PYTHON = "ASCENDFLOW_CANN_PYTHON"
"""As `convert.python`; absent: /usr/bin/python3."""
SOC = "ASCENDFLOW_CANN_SOC"
"""As `convert.soc_version`."""
DEVICE_PYTHON = "ASCENDFLOW_CANN_DEVICE_PYTHON"
"""As `infer.python`; its being there says that a device is."""
ANSWERS = "ASCENDFLOW_CANN_ANSWERS"
"""The file that answers are added to, a line of JSON each."""

Arrays = dict[str, np.ndarray]
NONE = "none of these"
TOLERANCE = 0.02
"""Relative Euclidean distance that float16 may have from a closed form, and more."""


@dataclass(frozen=True)
class Installed:
    """A toolkit, and a folder to build in.

    Attributes:
        root: the toolkit.
        python: what ATC compiles kernels with.
        soc: what is built for.
        device_python: what runs OMs, or None where there is no device.
        folder: an empty one.
    """

    root: Path
    python: Path
    soc: str
    device_python: Path | None
    folder: Path

    @property
    def toolkit(self) -> Toolkit:
        return find_toolkit(self.root, os.uname().machine)

    @property
    def release(self) -> str:
        """Return "8.1" of 8.1.RC1."""
        release = release_of(self.toolkit.version)
        assert release is not None, self.toolkit.version
        return f"{release[0]}.{release[1]}"

    def build(self, proto: onnx.ModelProto, name: str = "a", **settings: Any) -> Path:
        """Build an OM; return its folder."""
        (self.folder / name).mkdir()
        file = self.folder / name / "model.onnx"
        onnx.save(fixed(proto), file)
        given = {
            **config(self.root, self.python),
            "cann": self.release,
            "soc_version": self.soc,
            "inputs": [_declared(each) for each in proto.graph.input],
            **settings,
        }
        made = self.folder / name / "model"
        Cann().compile(file, made, given)
        return made

    def run(self, proto: onnx.ModelProto, feeds: Arrays, **settings: Any) -> Arrays:
        """Build an OM and run it on the device."""
        assert self.device_python is not None
        made = self.build(proto, **settings)
        options = {
            "python": str(self.device_python),
            "api": "ais_bench",
            "device": 0,
            "toolkit": str(self.root),
            "host": None,
            "ssh_config": None,
        }
        (outputs,) = Cann().infer(made, [feeds], threads=1, options=options)
        return outputs

    def emulated(
        self, proto: onnx.ModelProto, feeds: Arrays, **settings: Any
    ) -> list[Arrays]:
        """Return what the emulator says that comes out: one, two, or nothing known."""
        folder = self.folder / "emulated"
        folder.mkdir()
        onnx.save(fixed(proto), folder / "model.onnx")
        asked = target(soc_version=self.soc, cann=self.release, **settings)
        try:
            Emulator().compile(folder / "model.onnx", folder / "model", asked)
        except NotModelledError:
            return []
        models = Emulator().behaviours(folder / "model").values()
        return [
            outputs
            for model in models
            for outputs in Emulator().infer(model, [feeds], threads=1)
        ]

    def answer(self, question: str, answer: str, **numbers: float | str) -> None:
        """Keep an answer: no path, host or tensor is in it."""
        if (file := os.environ.get(ANSWERS)) is not None:
            versions = self.toolkit.versions
            said = {
                "question": question,
                "answer": answer,
                **numbers,
                "cann": self.toolkit.version,
                "soc_version": self.soc,
                "opp": versions.get("opp", ""),
            }
            with Path(file).open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(said, sort_keys=True) + "\n")


def _declared(value: onnx.ValueInfoProto) -> dict[str, Any]:
    tensor = value.type.tensor_type
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    shape = [size.dim_value for size in tensor.shape.dim]
    return {"name": value.name, "dtype": str(dtype), "shape": shape}


def fixed(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Give the outputs the shapes that follow from the inputs, as a pipeline does."""
    made = onnx.ModelProto.FromString(proto.SerializeToString())
    for value in made.graph.output:
        value.type.tensor_type.ClearField("shape")
    return onnx.shape_inference.infer_shapes(made, data_prop=True)


def nearest(found: np.ndarray, hypotheses: Mapping[str, np.ndarray]) -> str:
    """Name the hypothesis that `found` is, or `NONE`: far from all, or of two as near."""
    far = {name: distance(wanted, found) for name, wanted in hypotheses.items()}
    (best, least), *others = sorted(far.items(), key=lambda each: each[1])
    clear = not others or others[0][1] > 3 * least
    return best if least <= TOLERANCE and clear else NONE


def distance(wanted: np.ndarray, found: np.ndarray) -> float:
    """Relative Euclidean distance; an infinity is a large number, NaN a larger one."""
    plain = [
        np.nan_to_num(each.astype(np.float64), nan=4e6, posinf=1e6, neginf=-1e6)
        for each in (wanted, found)
    ]
    return float(np.linalg.norm(plain[1] - plain[0]) / np.linalg.norm(plain[0]))
