"""The emulator: a model of what CANN would compute. No device runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.backends.backend import Capabilities
from ascendflow.cann import whole_graph
from ascendflow.cann.target import Target, why_refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import numpy as np

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

    def compile(self, onnx: Path, model: Path, config: Mapping[str, Any]) -> dict[str, Any]:
        """Lower the file `onnx` into the folder `model`.

        Returns:
            The conversion document (`ascendflow.documents.conversion.Conversion`).

        Raises:
            NotModelledError: nothing is known of the target, or of a node in the graph.
            StageError: CANN itself would refuse the model.
        """
        from ascendflow.backends.emulator import artifact
        from ascendflow.backends.emulator.lowering import lower
        from ascendflow.errors import NotModelledError
        from ascendflow.graph.load import blaming, load_model

        if (reason := self.refuse(config)) is not None:
            raise NotModelledError(f"convert: {reason}")
        target = Target.of(config)
        spelled = {key: config[key] for key in ("cann", "soc_version", "precision_mode")}

        def make(folder: Path, alternative: int) -> Lowered:
            graph = load_model(onnx)
            with blaming(onnx):
                lowered = lower(graph, target, alternative)
            header = {
                "emulator": EMULATOR_VERSION,
                "target": spelled,
                "tensors": lowered.tensors,
            }
            if lowered.behaviours:
                header["behaviour"] = lowered.behaviours[alternative]
            artifact.write(folder, graph, header)
            return lowered

        lowered = make(model, 0)
        if lowered.behaviours:
            make(model / artifact.ALTERNATIVE, 1)
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
        self, model: Path, feeds: Mapping[str, np.ndarray], *, threads: int
    ) -> Iterator[tuple[str, np.ndarray]]:
        """Run one sample and give every tensor once, by its ONNX tensor name."""
        from ascendflow.backends.emulator import run

        return run.dump(model, feeds, threads=threads)


def _document(lowered: Lowered, target: Target, spelled: Mapping[str, str]) -> Conversion:
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
    }
