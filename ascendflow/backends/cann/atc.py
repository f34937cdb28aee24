"""Runs ATC: fixed working folder, relative paths, caches of its own, a group of its own."""

from __future__ import annotations

import shutil
import tempfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from ascendflow import atc_words
from ascendflow.backends.cann.arguments import Paths, arguments, is_taken
from ascendflow.backends.cann.environment import environment_of, with_own_home
from ascendflow.backends.cann.interpreter import interpreter
from ascendflow.backends.cann.made_om import made_om, om_problem, refuse_another
from ascendflow.backends.cann.option_files import option_files
from ascendflow.backends.cann.out_nodes import with_outputs
from ascendflow.backends.cann.outcome import Expected, Failure, outcome
from ascendflow.backends.cann.ready import toolkit_for
from ascendflow.errors import StageError, ToolFailedError
from ascendflow.process import run_child, tail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ascendflow.backends.cann.interpreter import Interpreter
    from ascendflow.backends.cann.toolkit import Toolkit
    from ascendflow.documents.conversion import MadeOm
    from ascendflow.process import ExitStatus

HEARTBEAT_S = 5.0
FOLDERS = ("model", "cache", "kernel_meta", "work", "log", "options", "home")
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
    toolkit = toolkit_for(config)
    work = _work_folder(model)
    try:
        for folder in FOLDERS:
            (work / folder).mkdir()
        around = environment_of(toolkit, options["python"], work)
        around = with_own_home(around, str(work.resolve()))
        python = interpreter(around, work, options["python"], toolkit.version)
        paths = _laid_out(onnx, work, config, files)
        argv = arguments(with_outputs(config, onnx), paths)
        status, output = _run([str(toolkit.atc), *argv], around, work)
        om = _made(work, status, output, onnx, config)
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
    if _is_good(beside.parent.resolve()):
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        return beside
    temporary = Path(tempfile.mkdtemp(prefix="ascendflow-atc-")).resolve()
    if not _is_good(temporary):
        temporary.rmdir()
        raise StageError(
            f"convert: ATC refuses paths such as {str(beside)!r} and {str(temporary)!r} "
            "(E10001)",
            hint="set TMPDIR to a folder of letters, digits, '-', '_', '.' and '/', "
            "without '.om' in its name",
        )
    return temporary


def _is_good(folder: Path) -> bool:
    """Whether ATC takes a folder, and puts no host's name into it (`model_helper.cc`)."""
    return is_taken(str(folder)) and ".om" not in str(folder)


def _laid_out(
    onnx: Path, work: Path, config: Mapping[str, Any], files: Mapping[str, Path]
) -> Paths:
    """Put all that ATC reads below its working folder, under names that it takes."""
    for path in onnx.parent.iterdir():
        if path.is_file():
            _link(path, work / path.name)
    paths = replace(Paths(), model=onnx.name)
    placed = {}
    for option, file in files.items():
        if option in atc_words.BANKS:
            placed[option] = f"options/{option}"
            _unpack(option, file, work / placed[option])
            continue
        placed[option] = f"options/{option}{file.suffix}"
        # No link: that would change the user's file, and the run would be refused for it.
        shutil.copyfile(file, work / placed[option])
    for option, (name, text) in option_files(config).items():
        placed[option] = f"options/{name}"
        (work / placed[option]).write_text(text, encoding="utf-8", newline="\n")
    return replace(paths, files=placed)


def _unpack(option: str, file: Path, folder: Path) -> None:
    try:
        with ZipFile(file) as archive:
            archive.extractall(folder)
    except (BadZipFile, RuntimeError, EOFError, zlib.error) as error:
        raise StageError(
            f"convert.{option}: {file.name} is no ZIP file of a bank: {error}",
            hint=f"pack the folder: cd BANK && python3 -m zipfile -c ../{option}.zip *",
        ) from error


def _link(path: Path, to: Path) -> None:
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


def _run(
    argv: Sequence[str], around: Mapping[str, str], work: Path
) -> tuple[ExitStatus, str]:
    """Run ATC; return how it ended and all that it printed."""
    log = work / "atc.log"

    def beat(elapsed_s: float) -> None:
        print(f"atc: {elapsed_s:.0f} s: {tail(log, 1)}", flush=True)  # noqa: T201

    status = run_child(
        argv,
        cwd=work,
        environment=around,
        log=log,
        on_heartbeat=beat,
        heartbeat_s=HEARTBEAT_S,
    )
    output = _read(log)
    print(output, flush=True)  # noqa: T201  into the stage's log
    return status, output


def _made(
    work: Path, status: ExitStatus, output: str, onnx: Path, config: Mapping[str, Any]
) -> MadeOm:
    found = outcome(
        status,
        output,
        list((work / "model").iterdir()),
        _expected(config),
        nodes=lambda: _nodes(onnx),
        om_problem=om_problem,
    )
    if isinstance(found, Failure):
        raise ToolFailedError(f"convert: {found.message}", hint=found.hint)
    return made_om(found)


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
    from ascendflow.graph.structure import read_structure

    return {node.name: node.op_type for node in read_structure(onnx).model.graph.node}
