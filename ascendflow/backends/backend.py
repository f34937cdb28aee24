"""The seam between the pipeline and a toolchain: the real one, or its emulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    import numpy as np


@dataclass(frozen=True)
class Capabilities:
    """What a backend can do, and what it is.

    Attributes:
        can_dump: it can give every tensor of a run, not only the outputs.
        is_real_device: numbers come from an NPU; an emulation says False, and every
            record, verdict and report repeats it.
    """

    can_dump: bool
    is_real_device: bool


class Measured(NamedTuple):
    """A tensor that the backend's own tools compared.

    Attributes:
        tensor: its name in ONNX.
        metrics: by our names; NaN where the tool has none.
        problem: why it could not be compared, or None.
    """

    tensor: str
    metrics: dict[str, float]
    problem: str | None


class Backend(Protocol):
    """Compiles an ONNX graph for one target and runs the result.

    Written so that `atc`, ais_bench and msprobe fit: `compile` makes a folder (external
    weights may lie beside the OM), `infer` takes all samples at once (loading an OM is
    dear), `dump` may give tensors in any order (a device writes them by task).
    """

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]

    def refuse(self, config: Mapping[str, Any]) -> str | None:
        """Return why the target cannot be built, judged from the manifest alone, or None.

        It begins with the key of the convert block that is wrong.

        Args:
            config: `cann`, `soc_version`, `precision_mode` of the convert block.
        """
        ...

    def compiled_with(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name what `compile` uses, as a stage names its tools.

        Args:
            config: what `compile` will be given.
        """
        ...

    def run_with(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name what `infer` uses, as a stage names its tools.

        Args:
            config: the slice of the infer stage.
        """
        ...

    def compile(
        self,
        onnx: Path,
        model: Path,
        config: Mapping[str, Any],
        files: Mapping[str, Path] | None = None,
    ) -> dict[str, Any]:
        """Compile `onnx` into the folder `model`.

        Args:
            onnx: the model's file.
            model: the folder to make.
            config: the slice of the convert stage.
            files: key of the convert block -> the file that the manifest names there.

        Returns:
            The conversion document (`ascendflow.documents.conversion.Conversion`).

        Raises:
            NotModelledError: the emulator has no model of something in the graph.
            StageError: the compiler refused, or wrote nothing.
        """
        ...

    def behaviours(self, model: Path) -> Mapping[str, Path]:
        """Name what the compiled model may compute, and the folder of each.

        A device does one thing, whose name is "". An emulator may know of two, and not
        which: `infer` and `dump` are then asked for the folder of each.
        """
        ...

    def missing(self, slices: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """Return what is not installed here that stages will need, each with what to do.

        Args:
            slices: `convert`, `infer` or both -> the stage's slice of the manifest.
        """
        ...

    def out_of_reach(self, config: Mapping[str, Any]) -> str | None:
        """Return what keeps another machine from running the model now, or None.

        It may be there when it is needed, so whoever asks warns and goes on.

        Args:
            config: the slice of the infer stage.
        """
        ...

    def infer(
        self,
        model: Path,
        feeds: Iterable[Mapping[str, np.ndarray]],
        *,
        threads: int,
        options: Mapping[str, Any] | None = None,
    ) -> Iterator[dict[str, np.ndarray]]:
        """Run the compiled model once per sample; outputs by their ONNX names, in order.

        Args:
            model: a folder that `compile` made.
            feeds: the samples, by input names.
            threads: of onnxruntime, where that is what runs.
            options: where and with what a device is run; None for one that is emulated.
        """
        ...

    def dump(
        self,
        model: Path,
        feeds: Mapping[str, np.ndarray],
        *,
        threads: int,
        options: Mapping[str, Any] | None = None,
        warn: Callable[[str], None] = print,
    ) -> Iterator[tuple[str, np.ndarray]]:
        """Run one sample and give every tensor once, by its ONNX tensor name.

        Memory stays bounded: tensors are given in segments and not kept. A tensor that
        the backend inserted, or fused away, is not given. Outputs of the model are those
        of this very run: whoever has them of a run without a dump can hold them together.

        Args:
            model: a folder that `compile` made.
            feeds: one sample.
            threads: as of `infer`.
            options: as of `infer`, and `dump_gb`: how large a dump may be.
            warn: is told of tensors that ought to be there and cannot be given.
        """
        ...

    def measured(
        self,
        model: Path,
        onnx: Path,
        feeds: Mapping[str, np.ndarray],
        *,
        options: Mapping[str, Any] | None = None,
    ) -> Iterator[Measured]:
        """Have the toolchain's own tools compare every tensor of one sample.

        Args:
            model: a folder that `compile` made.
            onnx: the file that it was made from.
            feeds: the sample.
            options: as of `infer`.
        """
        ...
