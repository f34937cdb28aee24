"""The other way to compare a device node by node: `msprobe compare -m offline_model`.

It runs the OM and the ONNX file on our sample and writes a table, which is judged anew: its
own verdict lets a NaN pass. Source: msprobe 26.2 compare_cli.py, msquickcmp.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ascendflow.backends.backend import Measured
from ascendflow.backends.cann.dump.origins import device_ops, tensors
from ascendflow.backends.cann.dump.results import problems, read_results, why_not_compared
from ascendflow.backends.cann.environment import environment_of
from ascendflow.backends.cann.local_device import held
from ascendflow.errors import StageError, ToolFailedError
from ascendflow.process import run_child, tail

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import numpy as np

    from ascendflow.backends.cann.dump.results import Result
    from ascendflow.backends.cann.signature import Signature

_INDEX = re.compile(r"(?P<op>.+):output:(?P<number>\d{1,9})", re.ASCII)
_OUTPUT = "out"
_INSTALL = (
    "infer.python must have mindstudio-probe (as PyPI calls msprobe), ais_bench, "
    "aclruntime, onnx and onnxruntime; or leave compare.nodes_by out"
)


def measured(
    model: Path, onnx: Path, feeds: Mapping[str, np.ndarray], options: Mapping[str, Any]
) -> Iterator[Measured]:
    """Have msprobe compare every tensor of one sample.

    Args:
        model: the folder with the OM.
        onnx: the file that it was built from.
        feeds: the sample; without it msprobe takes random numbers.
        options: `infer` of the manifest.

    Raises:
        StageError: the OM is not for the device, or there is no such table.
        ToolFailedError: msprobe failed.
    """
    said, own, toolkit = held(model, options)
    with TemporaryDirectory(prefix="ascendflow-msprobe-") as folder:
        work, log = Path(folder).resolve(), Path(folder).resolve() / "msprobe.log"
        # It changes the permissions of what it is given, so it is given copies.
        shutil.copytree(model, work / "om")
        shutil.copytree(onnx.parent, work / "onnx")
        (work / _OUTPUT).mkdir()
        status = run_child(
            [
                *(options["python"], "-m", "msprobe.msprobe", "compare"),
                *("-m", "offline_model", "-tp", str(work / "om" / own.path.name)),
                *("-gp", str(work / "onnx" / onnx.name), "-o", str(work / _OUTPUT)),
                *("--rank", str(options["device"])),
                *("--input_data", ",".join(_written(work, feeds, said))),
            ],
            cwd=work,
            environment=environment_of(toolkit, options["python"], work),
            log=log,
        )
        print(tail(log, 1000), flush=True)  # noqa: T201  into the stage's log
        if status.explanation is not None:
            text = f"compare: msprobe {status.explanation}\n{tail(log, 5)}"
            raise ToolFailedError(text, hint=_INSTALL)
        names = tensors(device_ops(own.path), said["nodes"])
        yield from rows(read_results(_table(work / _OUTPUT)), names)


def rows(
    results: Iterable[Result], names: Mapping[tuple[str, int], str]
) -> Iterator[Measured]:
    """Give the table's rows of which ONNX has the tensor, judged anew.

    Args:
        results: of the table.
        names: (device operator, number of its output) -> name of the ONNX tensor.
    """
    for result in results:
        place = _INDEX.fullmatch(result.tensor)
        if place is None or not result.has_golden:
            continue
        name = names.get((place["op"], int(place["number"])))
        if name is None:
            continue
        problem, metrics = why_not_compared(result), result.metrics
        if result.device_dtype == result.golden_dtype == "bool":
            # Of booleans the tool has a cosine alone, which is judged here and not shown.
            problem, metrics = "; ".join(problems(result)) or None, {}
        yield Measured(name, metrics, problem)


def _written(work: Path, feeds: Mapping[str, np.ndarray], said: Signature) -> Iterator[str]:
    """Write the sample, an input a file, in the OM's order; it takes them by position."""
    for number, each in enumerate(said["inputs"]):
        name = each["name"]
        if each["om_dtype"] != each["dtype"]:
            raise StageError(
                f"compare: input {name!r} is {each['om_dtype']} in the OM and "
                f"{each['dtype']} in ONNX, and msprobe feeds both the same bytes",
                hint="leave compare.nodes_by out",
            )
        path = work / f"input_{number}.bin"
        path.write_bytes(feeds[name].tobytes())
        yield str(path)


def _table(folder: Path) -> Path:
    found = sorted(folder.rglob("result_*.csv"))
    if len(found) != 1:
        raise StageError(
            f"compare: msprobe ended well and left {len(found)} tables, not one",
            hint="see compare's log",
        )
    return found[0]
