"""The emulator: a model of what CANN would compute. No device runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.backends.backend import Capabilities
from ascendflow.cann.target import Target, why_refused
from ascendflow.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    import numpy as np

    from ascendflow.backends.backend import Measured
    from ascendflow.backends.emulator.lowering import Lowered
    from ascendflow.documents.conversion import Conversion

EMULATOR_VERSION = 1


class Emulator:
    """Lowers ONNX to ONNX, and runs it in onnxruntime."""

    name: ClassVar[str] = "emulator"
    capabilities: ClassVar[Capabilities] = Capabilities(can_dump=True, is_real_device=False)

    def refuse(self, config: Mapping[str, Any]) -> str | None:
        """Return why the target is not modelled, by the manifest alone, or None."""
        return why_refused(config)

    def compiled_with(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name what edits graphs."""
        del config
        return ("numpy", "onnx", "onnx-ir", "onnxruntime")

    def run_with(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name what runs the lowered graph."""
        del config
        return ("numpy", "onnx", "onnxruntime")

    def compile(
        self,
        onnx: Path,
        model: Path,
        config: Mapping[str, Any],
        files: Mapping[str, Path] | None = None,
    ) -> dict[str, Any]:
        """Lower the file `onnx` into the folder `model`.

        Returns:
            The conversion document (`ascendflow.documents.conversion.Conversion`).

        Raises:
            NotModelledError: nothing is known of the target, or of a node in the graph.
            StageError: CANN itself would refuse the model.
        """
        from ascendflow.backends.emulator import artifact
        from ascendflow.errors import NotModelledError

        del files  # those keys are `cann`'s alone
        if (reason := self.refuse(config)) is not None:
            raise NotModelledError(f"convert: {reason}")
        target = Target.of(config)
        spelled = {key: config[key] for key in ("cann", "soc_version", "precision_mode")}
        lowered = _write(model, onnx, target, spelled)
        if lowered.behaviours:
            _write(model / artifact.ALTERNATIVE, onnx, target, spelled, alternative=1)
        return dict(_document(lowered, target, spelled))

    def behaviours(self, model: Path) -> dict[str, Path]:
        """Name what the target may do, where no source says which, and the folder of each.

        Raises:
            StageError: a file is missing or damaged.
        """
        from ascendflow.backends.emulator import artifact

        other = model / artifact.ALTERNATIVE
        if not other.is_dir():
            return {"": model}
        return {artifact.read(each)[0]["behaviour"]: each for each in (model, other)}

    def missing(self, slices: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """Return nothing: it needs no more than ascendflow itself."""
        del slices
        return []

    def out_of_reach(self, config: Mapping[str, Any]) -> str | None:
        """Return None: it runs here."""
        del config
        return None

    def infer(
        self,
        model: Path,
        feeds: Iterable[Mapping[str, np.ndarray]],
        *,
        threads: int,
        options: Mapping[str, Any] | None = None,
    ) -> Iterator[dict[str, np.ndarray]]:
        """Run the lowered graph once per sample; outputs by their ONNX names, in order."""
        from ascendflow.backends.emulator import run

        del options
        return run.infer(model, feeds, threads=threads)

    def dump(
        self,
        model: Path,
        feeds: Mapping[str, np.ndarray],
        *,
        threads: int,
        options: Mapping[str, Any] | None = None,
        warn: Callable[[str], None] = print,
    ) -> Iterator[tuple[str, np.ndarray]]:
        """Run one sample and give every tensor once, by its ONNX tensor name."""
        from ascendflow.backends.emulator import run

        del options, warn
        return run.dump(model, feeds, threads=threads)

    def measured(
        self,
        model: Path,
        onnx: Path,
        feeds: Mapping[str, np.ndarray],
        *,
        options: Mapping[str, Any] | None = None,
    ) -> Iterator[Measured]:
        """Refuse: an emulation has no tools, and the manifest admits none."""
        del model, onnx, feeds, options
        raise InternalError("the emulator gives tensors, and compares none")


def _write(
    folder: Path,
    onnx: Path,
    target: Target,
    spelled: Mapping[str, str],
    *,
    alternative: int = 0,
) -> Lowered:
    """Write one artifact: the first of two behaviours, or the other."""
    from ascendflow.backends.emulator import artifact
    from ascendflow.backends.emulator.lowering import lower
    from ascendflow.graph.load import blaming, load_model

    graph = load_model(onnx)
    with blaming(onnx):
        lowered = lower(graph, target, alternative)
    header = {"emulator": EMULATOR_VERSION, "target": spelled, "tensors": lowered.tensors}
    if lowered.behaviours:
        header["behaviour"] = lowered.behaviours[alternative]
    artifact.write(folder, graph, header)
    return lowered


def _document(lowered: Lowered, target: Target, spelled: Mapping[str, str]) -> Conversion:
    from ascendflow.cann import whole_graph  # planning needs none of it

    return {
        "schema_version": 1,
        "backend": Emulator.name,
        "is_real_device": Emulator.capabilities.is_real_device,
        "cann": spelled["cann"],
        "soc_version": spelled["soc_version"],
        "precision_mode": spelled["precision_mode"],
        "overflow": target.soc.overflow,
        "modelled_nodes": lowered.modelled_nodes,
        "assumed": dict(sorted(lowered.assumed.items())),
        "applied": [*lowered.applied, *whole_graph.applied(target)],
        "target_ops": lowered.target_ops,
        "keepable": lowered.keepable,
    }
