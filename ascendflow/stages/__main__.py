"""The child: `python -m ascendflow.stages SPEC.json` runs one stage and says what it did.

It decides nothing about keys or the store; its parent does.
"""

from __future__ import annotations

import atexit
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ascendflow.child import lifeline, memory, result, seeds, sources
from ascendflow.child.failures import describe
from ascendflow.child.spec import read_spec
from ascendflow.reads.names import SOURCE, Places
from ascendflow.reads.territory import Territory
from ascendflow.reads.tracker import Tracker
from ascendflow.stages import load_stage
from ascendflow.stages.stage import Findings, StageContext

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ascendflow.backends.backend import Backend
    from ascendflow.child.spec import Spec
    from ascendflow.stages.stage import Stage


def main(
    arguments: Sequence[str],
    load: Callable[[str], type[Stage]] = load_stage,
) -> int:
    """Run the stage that a spec describes, and write `result.json` beside it.

    Args:
        arguments: the spec's path.
        load: gives the class of a stage; tests give stand-ins.

    Returns:
        0 if the stage made its outputs, else 1; `result.UNWRITTEN` if that cannot be said.
    """
    lifeline.watch()
    spec = read_spec(Path(arguments[0]))
    source = spec.files.get(SOURCE)
    beside = None if source is None else source.parent
    places = Places(spec.folder, spec.repository, spec.roots, beside)
    territory = Territory(places, spec.own)
    _prepare(spec, territory)
    try:
        document = _run(spec, territory, load)
        result.write_result(spec, document)
    except BaseException as error:  # noqa: BLE001  user code may raise SystemExit too
        try:
            document = describe(error, territory.user_name)
            result.write_result(spec, document)
        except OSError:  # nothing can be logged either
            return result.UNWRITTEN
    return 0 if document["ok"] else 1


def _prepare(spec: Spec, territory: Territory) -> None:
    """Set up the process as user code finds it: modules, seeds, relative paths."""
    sources.ignore_bytecode(territory.is_user_file)
    seeds.seed_all(spec.seed)
    sys.path[:0] = map(str, spec.python_path)
    os.chdir(spec.folder)


def _run(
    spec: Spec, territory: Territory, load: Callable[[str], type[Stage]]
) -> dict[str, Any]:
    stage = load(spec.stage)
    findings = Findings()
    tracker = Tracker(territory, [str(entry) for entry in spec.python_path])
    tracker.start(observe=stage.runs_user_code or bool(spec.config.get("users_code")))
    stage().run(_context(spec, findings))
    tracker.declare(_declared_reads(spec))
    reads = tracker.stop()
    result.check_outputs(spec)
    result.check_modules(spec)
    return result.success(findings, reads)


def _context(spec: Spec, findings: Findings) -> StageContext:
    return StageContext(
        config=spec.config,
        inputs=spec.inputs,
        files=spec.files,
        outputs=spec.outputs,
        folder=spec.folder,
        backend=_backend(spec),
        seed=spec.seed,
        findings=findings,
        roots=spec.roots,
    )


def _backend(spec: Spec) -> Backend | None:
    name = spec.config.get("backend")
    if name is None:
        return None
    from ascendflow.backends import load_backend

    return load_backend(name)


def _declared_reads(spec: Spec) -> Sequence[str]:
    reads: Sequence[str] = spec.config.get("reads") or ()
    return reads


def finish(code: int) -> NoReturn:
    """End the process now.

    Left-over threads of user code would be waited for, and native libraries may crash as
    the interpreter comes down, both after the result was written.
    """
    atexit._run_exitfuncs()  # noqa: SLF001
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    memory.go_first()
    finish(main(sys.argv[1:]))
