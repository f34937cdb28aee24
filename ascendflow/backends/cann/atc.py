"""Runs ATC: fixed working folder, relative paths, caches of its own, a group of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendflow.backends.cann.arguments import Paths, arguments, is_taken
from ascendflow.backends.cann.environment import environment_of
from ascendflow.backends.cann.interpreter import interpreter
from ascendflow.backends.cann.made_om import made_om, om_problem, refuse_another
from ascendflow.backends.cann.option_files import option_files
from ascendflow.backends.cann.outcome import Expected, Failure, outcome
from ascendflow.backends.cann.toolkit import Toolkit, find_toolkit, is_release
from ascendflow.errors import StageError, ToolFailedError
from ascendflow.manifest.problems import closest_or_all
from ascendflow.process import run_child, tail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ascendflow.backends.cann.interpreter import Interpreter
    from ascendflow.documents.conversion import MadeOm

HEARTBEAT_S = 5.0
FOLDERS = ("model", "cache", "kernel_meta", "work", "log", "options")
LONGEST_LOG = 32 << 20
"""Bytes that are read of the beginning of ATC's output, and of its end."""


@dataclass(frozen=True)
class Built:
    """A model, and what made it."""

    toolkit: Toolkit
    interpreter: Interpreter
    arguments: tuple[str, ...]
    om: MadeOm


def build(
    onnx: Path, model: Path, config: Mapping[str, Any], files: Mapping[str, Path]
) -> Built:
    """Compile `onnx` into the folder `model`, which also gets weights that lie beside.

    Args:
        onnx: the file; external data lies in its folder.
        model: the folder to make.
        config: the `convert` slice of the backend `cann`.
        files: option -> the file that the manifest names for it.

    Raises:
        StageError: the toolkit does not fit, or ATC would refuse a path.
        ToolFailedError: ATC refused the model, crashed, or left none, or one that
            another toolkit made.
    """
    options = config["options"]
    toolkit = find_toolkit(Path(options["toolkit"]), os.uname().machine)
    _fits(toolkit, config["cann"], config["soc_version"])
    work = _work_folder(model)
    try:
        for folder in FOLDERS:
            (work / folder).mkdir()
        around = environment_of(toolkit, options["python"], work)
        python = interpreter(around, work)
        argv = arguments(config, _laid_out(onnx, work, config, files))
        om = made_om(_run(toolkit, argv, around, work, onnx, _expected(config)))
        refuse_another(om, toolkit, config["soc_version"])
        model.mkdir(parents=True, exist_ok=True)
        for path in sorted((work / "model").iterdir()):
            shutil.move(path, model / path.name)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return Built(toolkit, python, tuple(argv), om)


def _work_folder(model: Path) -> Path:
    """Make a folder whose whole path ATC takes: beside the model's, or a temporary one."""
    beside = model.with_name("atc")
    if is_taken(str(beside.parent.resolve())):
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        return beside
    temporary = Path(tempfile.mkdtemp(prefix="ascendflow-atc-")).resolve()
    if not is_taken(str(temporary)):
        temporary.rmdir()
        raise StageError(
            f"convert: ATC refuses paths such as {str(beside)!r} and {str(temporary)!r} "
            "(E10001)",
            hint="set TMPDIR to a folder of letters, digits, '-', '_', '.' and '/'",
        )
    return temporary


def _fits(toolkit: Toolkit, asked: str, soc: str) -> None:
    if not is_release(asked, toolkit.version):
        raise StageError(
            f"convert.cann is {asked!r}, and {toolkit.root} holds CANN {toolkit.version}",
            hint="correct convert.cann, or name another toolkit",
        )
    if toolkit.socs and soc not in toolkit.socs:
        raise StageError(
            f"convert.soc_version is {soc!r}, and {toolkit.root}, CANN {toolkit.version}, "
            "does not list it",
            hint=closest_or_all(soc, toolkit.socs),
        )


def _laid_out(
    onnx: Path, work: Path, config: Mapping[str, Any], files: Mapping[str, Path]
) -> Paths:
    """Put all that ATC reads below its working folder, under names that it takes."""
    for path in onnx.parent.iterdir():
        if path.is_file():
            _copy(path, work / path.name)
    paths = replace(Paths(), model=onnx.name)
    placed = {}
    for option, file in files.items():
        placed[option] = f"options/{option}{file.suffix}"
        _copy(file, work / placed[option])
    for option, (name, text) in option_files(config).items():
        placed[option] = f"options/{name}"
        (work / placed[option]).write_text(text, encoding="utf-8", newline="\n")
    return replace(paths, files=placed)


def _copy(path: Path, to: Path) -> None:
    try:
        to.hardlink_to(path.resolve())
    except OSError:  # another file system, or one without links
        shutil.copyfile(path, to)


def _expected(config: Mapping[str, Any]) -> Expected:
    options = config["options"]
    return Expected(
        stem="model",
        is_dynamic=options.get("dynamic_shape") is True,
        host=(options.get("host_env_os"), options.get("host_env_cpu")),
        suffix=".exeom" if options.get("mode") == 30 else ".om",
    )


def _run(  # noqa: PLR0917, PLR0913  each is another thing
    toolkit: Toolkit,
    argv: Sequence[str],
    around: Mapping[str, str],
    work: Path,
    onnx: Path,
    expected: Expected,
) -> Path:
    log = work / "atc.log"

    def beat(elapsed_s: float) -> None:
        print(f"atc: {elapsed_s:.0f} s: {tail(log, 1)}", flush=True)  # noqa: T201

    status = run_child(
        [str(toolkit.atc), *argv],
        cwd=work,
        environment=around,
        log=log,
        on_heartbeat=beat,
        heartbeat_s=HEARTBEAT_S,
    )
    output = _read(log)
    print(output, flush=True)  # noqa: T201  into the stage's log
    found = outcome(
        status,
        output,
        list((work / "model").iterdir()),
        expected,
        nodes=_nodes(onnx),
        om_problem=om_problem,
    )
    if isinstance(found, Failure):
        raise ToolFailedError(f"convert: {found.message}", hint=found.hint)
    return found


def _read(log: Path) -> str:
    """Read a log; of a very long one its beginning and its end."""
    size = log.stat().st_size
    with log.open("rb") as file:
        content = file.read(LONGEST_LOG)
        if size > LONGEST_LOG:
            file.seek(max(LONGEST_LOG, size - LONGEST_LOG))
            content += b"\n" + file.read(LONGEST_LOG)
    return content.decode("utf-8", errors="replace")


def _nodes(onnx: Path) -> dict[str, str]:
    """Return name -> operator type of the nodes, by which messages are traced."""
    import onnx as onnx_format

    graph = onnx_format.load(onnx, load_external_data=False).graph
    return {node.name: node.op_type for node in graph.node if node.name}
