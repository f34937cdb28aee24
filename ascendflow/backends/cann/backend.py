"""The backend of the real toolchain: ATC builds the OM, and a device runs it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from ascendflow.backends.backend import Capabilities
from ascendflow.errors import AscendflowError, InternalError, StageError
from ascendflow.manifest.atc_options import refused_by_atc
from ascendflow.manifest.precision_keys import refused_together
from ascendflow.manifest.problems import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    import numpy as np

    from ascendflow.backends.backend import Measured
    from ascendflow.backends.cann.atc import Built
    from ascendflow.documents.conversion import Conversion


T = TypeVar("T")
_OF_INFER = re.compile(r"^infer:(?: at sample number 0:)?", re.MULTILINE)
"""compare runs one sample at a time."""
OF_MSPROBE = ("mindstudio-probe", "onnx", "onnxruntime", "ais_bench", "aclruntime")
"""What computes both sides of its table, and the table."""


class Cann:
    """Runs ATC on this machine, and the OM on a device of this or another one."""

    name: ClassVar[str] = "cann"
    capabilities: ClassVar[Capabilities] = Capabilities(can_dump=True, is_real_device=True)

    def refuse(self, config: Mapping[str, Any]) -> str | None:
        """Return all that ATC would refuse of the options, each with what to do, or None.

        The manifest was judged when it was loaded; the command line may have put another
        SoC or precision in.
        """
        given = {**config, **config.get("options", {})}
        given = {key: value for key, value in given.items() if value not in (None, [], {})}
        problems = [
            *refused_by_atc(given, given.pop("inputs", [])),
            *refused_together(given),
        ]
        return listed(problems) if problems else None

    def compiled_with(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name the files that tell one toolkit from another, and the user's Python."""
        return _toolkit_and_python(config["options"])

    def run_with(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name them of what runs the OM; what a board has is looked at when it runs."""
        options = config["options"]
        here = () if options["host"] is not None else _toolkit_and_python(options)
        if config.get("nodes_by") == "msprobe":
            here = (*here, f"packages:{','.join(OF_MSPROBE)}:{options['python']}")
        return ("numpy", *here)

    def compile(
        self,
        onnx: Path,
        model: Path,
        config: Mapping[str, Any],
        files: Mapping[str, Path] | None = None,
    ) -> dict[str, Any]:
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
        built = build(onnx, model, config, files or {})
        versions = built.toolkit.versions
        said = signature(onnx, config, built.toolkit.version, versions.get("opp"))
        write_signature(model, said)
        return dict(_document(built, config, _node_ops(model / built.om["file"])))

    def behaviours(self, model: Path) -> dict[str, Path]:
        """A device does one thing."""
        return {"": model}

    def missing(self, slices: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """Return which toolkit or Python of the stages is not here, or does not fit."""
        from ascendflow.backends.cann.ready import what_is_missing

        return list(what_is_missing(slices))

    def out_of_reach(self, config: Mapping[str, Any]) -> str | None:
        """Return what keeps a board from running the OM now, or None."""
        from ascendflow.backends.cann.reach import out_of_reach

        options = config["options"]
        return None if options["host"] is None else out_of_reach(options)

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
        from ascendflow.backends.cann.runs import infer

        del threads
        return infer(model, feeds, _given(options))

    def dump(
        self,
        model: Path,
        feeds: Mapping[str, np.ndarray],
        *,
        threads: int,
        options: Mapping[str, Any] | None = None,
        warn: Callable[[str], None] = print,
    ) -> Iterator[tuple[str, np.ndarray]]:
        """Run one sample and give what every operator made of it, by ONNX tensor names.

        The model's outputs are those of the run itself, as `infer` gives them.

        Raises:
            StageError: as of `infer`; or nothing was dumped, more than
                `compare.dump_gb`, or a file is not whole.
            ToolFailedError: the worker failed or died.
        """
        from ascendflow.backends.cann.runs import dump

        del threads
        return _of_compare(dump(model, feeds, _given(options), warn))

    def measured(
        self,
        model: Path,
        onnx: Path,
        feeds: Mapping[str, np.ndarray],
        *,
        options: Mapping[str, Any] | None = None,
    ) -> Iterator[Measured]:
        """Have msprobe compare every tensor of one sample.

        Raises:
            StageError: the OM is not for the device, or there is no table of msprobe's.
            ToolFailedError: it failed.
        """
        from ascendflow.backends.cann.msprobe import measured

        return _of_compare(measured(model, onnx, feeds, _given(options)))


def _of_compare(given: Iterator[T]) -> Iterator[T]:
    """Name the stage that runs: what runs an OM says `infer:` of all that goes wrong."""
    try:
        yield from given
    except AscendflowError as error:
        error.message = _OF_INFER.sub("compare:", error.message)
        raise


def _given(options: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if options is None:
        raise InternalError("a device runs with the manifest's infer block")
    return options


def _toolkit_and_python(options: Mapping[str, Any]) -> tuple[str, ...]:
    from ascendflow.backends.cann.toolkit import key_files

    files = key_files(options["toolkit"], os.uname().machine)
    return (*(f"file:{each}" for each in files), f"python:{options['python']}")


def _node_ops(om: Path) -> dict[str, str | None]:
    from ascendflow.backends.cann.dump.origins import device_ops, node_ops

    try:
        return dict(node_ops(device_ops(om)))
    except StageError as error:
        # The OM is whole, and may run; what it says of its operators is asked for again.
        print(f"convert: {error.message}", flush=True)  # noqa: T201
        return {}


def _document(
    built: Built, config: Mapping[str, Any], node_ops: dict[str, str | None]
) -> Conversion:
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
        "target_ops": node_ops,
        "om": built.om,
        "toolchain": {
            "versions": {**built.toolkit.versions, "cann": built.toolkit.version},
            "python": built.interpreter.python,
            "numpy": built.interpreter.numpy,
            "arguments": list(built.arguments),
        },
    }
