"""The backend of the real toolchain: ATC builds the OM, and a device runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ascendflow.backends.backend import Capabilities
from ascendflow.errors import InternalError, StageError
from ascendflow.manifest.atc_options import refused_by_atc
from ascendflow.manifest.precision_keys import refused_together
from ascendflow.manifest.problems import dotted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import numpy as np

    from ascendflow.backends.cann.atc import Built
    from ascendflow.documents.conversion import Conversion

NO_DUMP = "tensors inside an OM cannot be dumped yet"
HINT = "only outputs are compared; dump with Ascend's own tools"


class Cann:
    """Runs ATC on this machine, and the OM on a device of this or another one."""

    name: ClassVar[str] = "cann"
    capabilities: ClassVar[Capabilities] = Capabilities(can_dump=False, is_real_device=True)

    def refuse(self, config: Mapping[str, Any]) -> str | None:
        """Return why ATC would refuse the options, or None.

        The manifest was judged when it was loaded; the command line may have put another
        SoC or precision in.
        """
        given = {**config, **config.get("options", {})}
        given = {key: value for key, value in given.items() if value not in (None, [], {})}
        problems = [
            *refused_by_atc(given, given.pop("inputs", [])),
            *refused_together(given),
        ]
        return f"{dotted(problems[0].keys)} {problems[0].text}" if problems else None

    def compile(self, onnx: Path, model: Path, config: Mapping[str, Any]) -> dict[str, Any]:
        """Compile `onnx` into the folder `model`.

        Returns:
            The conversion document (`ascendflow.documents.conversion.Conversion`).

        Raises:
            StageError: the toolkit does not fit, or ATC refused the model or left none.
        """
        from ascendflow.backends.cann.atc import build
        from ascendflow.backends.cann.signature import signature, write_signature

        if (reason := self.refuse(config)) is not None:
            raise StageError(f"convert: {reason}")
        built = build(onnx, model, config, config.get("files", {}))
        versions = built.toolkit.versions
        said = signature(onnx, config, built.toolkit.version, versions.get("opp"))
        write_signature(model, said)
        return dict(_document(built, config))

    def behaviours(self, model: Path) -> dict[str, Path]:
        """A device does one thing."""
        return {"": model}

    def infer(
        self,
        model: Path,
        feeds: Iterable[Mapping[str, np.ndarray]],
        *,
        threads: int,
        options: Mapping[str, Any] | None = None,
    ) -> Iterator[dict[str, np.ndarray]]:
        """Run the OM once per sample; outputs by their ONNX names, in order.

        Raises:
            StageError: the OM is not for the device, or a sample not for the OM.
            ToolFailedError: the worker failed or died.
        """
        from ascendflow.backends.cann import board, local_device

        del threads
        if options is None:
            raise InternalError("a device runs with the manifest's infer block")
        if options["host"] is None:
            return local_device.infer(model, feeds, options)
        return board.infer(model, feeds, options)

    def dump(
        self, model: Path, feeds: Mapping[str, np.ndarray], *, threads: int
    ) -> Iterator[tuple[str, np.ndarray]]:
        """Refuse: see `NO_DUMP`."""
        del model, feeds, threads
        raise StageError(f"compare: {NO_DUMP}", hint=HINT)


def _document(built: Built, config: Mapping[str, Any]) -> Conversion:
    return {
        "schema_version": 1,
        "backend": Cann.name,
        "is_real_device": Cann.capabilities.is_real_device,
        "cann": built.toolkit.version,
        "soc_version": config["soc_version"],
        "precision_mode": config["precision_mode"],
        "overflow": None,
        "modelled_nodes": 0,
        "assumed": {},
        "applied": [],
        "target_ops": {},
        "om": built.om,
        "toolchain": {
            "versions": {**built.toolkit.versions, "cann": built.toolkit.version},
            "python": built.interpreter.python,
            "numpy": built.interpreter.numpy,
            "arguments": list(built.arguments),
        },
    }
