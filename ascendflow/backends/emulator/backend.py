"""The emulator: a model of what CANN would compute. No device runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.backends.backend import Capabilities
from ascendflow.cann import precision, profile, soc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import numpy as np

    from ascendflow.backends.emulator.lowering import Lowered, Settings
    from ascendflow.documents.conversion import AppliedDeviation, Confidence, Conversion

EMULATOR_VERSION = 1


class Emulator:
    """Lowers ONNX to ONNX, and runs it in onnxruntime."""

    name: ClassVar[str] = "emulator"
    capabilities: ClassVar[Capabilities] = Capabilities(can_dump=True, is_real_device=False)

    def refuse(self, config: Mapping[str, Any]) -> str | None:
        """Return why the target is not modelled, by the manifest alone, or None."""
        for reason in (
            profile.why_not_modelled(config["cann"]),
            soc.why_not_modelled(config["soc_version"]),
        ):
            if reason is not None:
                return reason
        family = soc.soc(config["soc_version"])
        return precision.why_not_modelled(config["precision_mode"], family)

    def compile(self, onnx: Path, model: Path, config: Mapping[str, Any]) -> dict[str, Any]:
        """Lower the file `onnx` into the folder `model`.

        Returns:
            The conversion document (`ascendflow.documents.conversion.Conversion`).

        Raises:
            NotModelledError: nothing is known of the target, or of a node in the graph.
            StageError: CANN itself would refuse the model.
        """
        from ascendflow.backends.emulator import artifact
        from ascendflow.backends.emulator.lowering import Settings, lower
        from ascendflow.errors import NotModelledError
        from ascendflow.graph.load import load_model

        if (reason := self.refuse(config)) is not None:
            raise NotModelledError(f"convert: {reason}")
        settings = Settings(
            profile.profile(config["cann"]),
            soc.soc(config["soc_version"]),
            config["precision_mode"],
        )
        graph = load_model(onnx)
        lowered = lower(graph, settings)
        target = {key: config[key] for key in ("cann", "soc_version", "precision_mode")}
        artifact.write(
            model,
            graph,
            {"emulator": EMULATOR_VERSION, "target": target, "tensors": lowered.tensors},
        )
        return dict(_document(lowered, settings, target))

    def infer(
        self, model: Path, feeds: Iterable[Mapping[str, np.ndarray]], *, threads: int
    ) -> Iterator[dict[str, np.ndarray]]:
        """Run the lowered graph once per sample; outputs by their ONNX names, in order."""
        from ascendflow.backends.emulator import run

        return run.infer(model, feeds, threads=threads)

    def dump(
        self, model: Path, feeds: Mapping[str, np.ndarray], *, threads: int
    ) -> Iterator[tuple[str, np.ndarray]]:
        """Run one sample and give every tensor once, by its ONNX tensor name."""
        from ascendflow.backends.emulator import run

        return run.dump(model, feeds, threads=threads)


def _document(
    lowered: Lowered, settings: Settings, target: Mapping[str, str]
) -> Conversion:
    return {
        "schema_version": 1,
        "backend": Emulator.name,
        "is_real_device": Emulator.capabilities.is_real_device,
        "cann": target["cann"],
        "soc_version": target["soc_version"],
        "precision_mode": target["precision_mode"],
        "overflow": settings.soc.overflow,
        "modelled_nodes": lowered.modelled_nodes,
        "assumed": dict(sorted(lowered.assumed.items())),
        "applied": [*lowered.applied, *_of_the_whole_graph(settings)],
        "target_ops": lowered.target_ops,
    }


def _of_the_whole_graph(settings: Settings) -> list[AppliedDeviation]:
    """What holds for every node: how types are chosen, and what overflow does."""
    mode = settings.precision_mode
    # In the other modes an fp32 convolution may run in HF32, which is not modelled.
    confidence: Confidence = "high" if mode == "force_fp16" else "low"
    return [
        {
            "deviation": f"precision-{mode}",
            "nodes": [],
            "rule": None,
            "confidence": confidence,
            "source": precision.SOURCE,
        },
        {
            "deviation": f"overflow-{settings.soc.overflow}",
            "nodes": [],
            "rule": None,
            "confidence": settings.soc.overflow_confidence,
            "source": soc.OVERFLOW_SOURCE,
        },
    ]
