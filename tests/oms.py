"""OMs that the stand-in of ATC made, and a device that runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx

from ascendflow.backends.cann.backend import Cann
from tests.toolkits import (
    config,
    make_device,
    make_device_python,
    make_python,
    make_toolkit,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np


class Device:
    """A toolkit with a device in it, and a Python to run OMs with."""

    def __init__(self, folder: Path, version: str = "8.1.RC1") -> None:
        self.folder = folder
        self.toolkit = make_toolkit(folder / "cann", version)
        self.python = make_python(folder / "py")
        self.infer_python = make_device_python(folder / "infer")
        self.says()

    def says(self, **said: Any) -> None:
        """Tell the device what to be and what to do wrong."""
        make_device(self.toolkit, **said)

    def options(self, **options: Any) -> dict[str, Any]:
        """Return the `infer` block."""
        given = {
            "python": str(self.infer_python),
            "api": "ais_bench",
            "device": 0,
            "toolkit": str(self.toolkit),
            "host": None,
            "ssh_config": None,
        }
        return given | options

    def built(
        self, model: onnx.ModelProto, inputs: Mapping[str, Sequence[int]], **options: Any
    ) -> Path:
        """Build a model; return its folder."""
        (self.folder / "in").mkdir(exist_ok=True)
        file = self.folder / "in" / "model.onnx"
        onnx.save(model, file)
        slice_ = config(self.toolkit, self.python, **options)
        dtypes = {
            each.name: onnx.helper.tensor_dtype_to_np_dtype(each.type.tensor_type.elem_type)
            for each in model.graph.input
        }
        slice_["inputs"] = [
            {"name": name, "dtype": str(dtypes[name]), "shape": list(shape)}
            for name, shape in inputs.items()
        ]
        folder = self.folder / "model"
        Cann().compile(file, folder, slice_)
        return folder

    def run(
        self, folder: Path, *feeds: Mapping[str, np.ndarray], **options: Any
    ) -> list[dict[str, np.ndarray]]:
        """Run samples."""
        given = self.options(**options)
        return list(Cann().infer(folder, feeds, threads=1, options=given))

    def dump(
        self,
        folder: Path,
        feeds: Mapping[str, np.ndarray],
        warned: list[str],
        **options: Any,
    ) -> dict[str, np.ndarray]:
        """Run a sample and return every tensor."""
        given = {"dump_gb": 1, **self.options(), **options}
        found = Cann().dump(folder, feeds, threads=1, options=given, warn=warned.append)
        return dict(found)
