"""A no-op, one fix and a restored cache, against other build tools with the same work.

`python -m benchmarks.build [MODELS ...]`: 1, 10 and 100 models unless told otherwise. Our
stages are stand-ins that run the same `cat` as the other tools' (`chain`, `copying`); our
pipeline has five stages more, whose documents are small. What `cat` leaves as it is we hash
once; a row of its own says what a fix takes where no two outputs are equal.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import chain, tools
from benchmarks.chain import MB, Scheme
from benchmarks.peers import PeerError, not_measured
from benchmarks.row import Row, beyond_stages, table
from benchmarks.timing import Command, Times, environment, times
from tests.checkouts import Checkout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.tools import Tool

SCHEMES = (Scheme(1, 200 * MB), Scheme(10, 40 * MB), Scheme(100, 10 * MB))
ROUNDS = 5
HERE = Path(__file__).resolve().parent
OURS = "ascendflow"
DOIT = str(Path(sys.executable).parent / "doit")
MANIFEST = "pipelines/m0/manifest.yaml"
RERUN = (
    *("rewrite", "check", "lint", "convert", "infer"),
    *("compare", "evaluate", "gate", "report"),
)
ANY = float("inf")

Measured = dict[str, Times]


def measure(schemes: Sequence[Scheme] = SCHEMES) -> list[Row]:
    """Measure every scheme."""
    rows: list[Row] = []
    for scheme in schemes:
        with tempfile.TemporaryDirectory() as scratch:
            rows += _Scene(scheme, Path(scratch)).measure()
    return rows


class _Scene:
    """One scheme, built by every tool that is there."""

    def __init__(self, scheme: Scheme, scratch: Path) -> None:
        self._scratch = scratch
        self._said = f"{scheme.models} x {scheme.size // MB} MB"
        self._missing: dict[str, PeerError] = {}
        self._commands = {OURS: _ours(scratch / OURS, scheme)}
        for tool in (tools.BARE, tools.DOIT, *tools.PEERS):
            self._set_up(tool, scheme)

    def measure(self) -> list[Row]:
        """Measure the three runs, in the order in which they leave files known."""
        noop = self._times([name for name in self._commands if name != tools.BARE.name])
        fix = self._times(list(self._commands), rounds=3, before=_fix)
        if (ran := _executed(fix[OURS])) != RERUN:
            raise RuntimeError(f"one fix ran {', '.join(ran)}\n{fix[OURS].said}")
        return [
            *self._of_noop(noop),
            *self._of_fix(fix),
            *self._of_restored(),
            self._of_other_contents(),
        ]

    def _set_up(self, tool: Tool, scheme: Scheme) -> None:
        print(f"benchmarks: {tool.name} builds {self._said}", file=sys.stderr)
        try:
            self._commands[tool.name] = tool.set_up(self._scratch / tool.name, scheme)
        except PeerError as error:
            self._missing[tool.name] = error

    def _of_noop(self, noop: Measured) -> Iterator[Row]:
        said = f"no-op, {self._said}"
        mine = noop[OURS]
        yield Row(said, mine.median_ms, 1000, "ms", f"at least {mine.least_ms:.0f} ms")
        yield self._ratio(said, noop, tools.DOIT, 2)
        yield self._ratio(said, noop, tools.MAKE, ANY)
        for tool in (tools.PYTASK_TOOL, tools.SNAKEMAKE, tools.DVC):
            yield self._ratio(said, noop, tool, 1)

    def _of_fix(self, fix: Measured) -> Iterator[Row]:
        said = f"one fix, {self._said}"
        yield self._beyond(f"{said}, beyond its stages", 11)
        for tool in (tools.BARE, tools.DOIT, *tools.PEERS):
            yield self._ratio(said, fix, tool, ANY)

    def _beyond(self, claim: str, first: int, least_limit: float = 1000) -> Row:
        """Fix again and again, from this number on."""
        rounds = [self._fix_once(number) for number in range(first, first + ROUNDS)]
        return beyond_stages(claim, rounds, least_limit)

    def _of_other_contents(self) -> Row:
        """Fix where no stage leaves its input as it is, so that every output is hashed.

        No claim, of stages that do nothing: what it takes is sha256, and the copies.
        """
        command = self._commands[OURS]
        stages = command.folder / "ascendflow/stages/standin.py"
        before = stages.read_text()
        stages.write_text(before.replace("ARE_EQUAL = True", "ARE_EQUAL = False"))
        if stages.read_text() == before:
            raise RuntimeError(f"{stages}: there is no ARE_EQUAL")
        command.run()
        claim = f"one fix, {self._said}, no two outputs equal, beyond its stages"
        return self._beyond(claim, 31, ANY)

    def _fix_once(self, number: int) -> tuple[float, float]:
        """Fix once more; returns what it took, and its stages' processes of that, in ms."""
        command = self._commands[OURS]
        _fix(command.folder, number)
        (spent,) = times([command], 1, before=lambda _folder, _number: None)
        return spent.last_ms, _own_ms(command.folder)

    def _of_restored(self) -> Iterator[Row]:
        """Touch everything: to which tools that is, by content, no change."""
        said = f"all mtimes new, {self._said}"
        known = [tools.DOIT.name, tools.PYTASK_TOOL.name, tools.DVC.name]
        names = [OURS, *(name for name in known if name in self._commands)]
        restored = self._times(names, rounds=3, before=_touch)
        ran = _executed(restored[OURS])
        yield Row(f"stages that run, {said}", len(ran), 0, "stages", ", ".join(ran))
        yield self._ratio(said, restored, tools.DOIT, 0.6)
        for tool in (tools.PYTASK_TOOL, tools.DVC):
            yield self._ratio(said, restored, tool, ANY)

    def _times(self, names: Sequence[str], rounds: int = ROUNDS, **how: Any) -> Measured:
        print(f"benchmarks: {rounds} rounds of {len(names)} tools", file=sys.stderr)
        found = times([self._commands[name] for name in names], rounds, **how)
        return dict(zip(names, found, strict=True))

    def _ratio(self, said: str, spent: Measured, tool: Tool, limit: float) -> Row:
        claim = f"{said} / {tool.name}"
        if (why := self._missing.get(tool.name)) is not None:
            return not_measured(claim, limit, "x", why)
        mine, its = spent[OURS], spent[tool.name]
        detail = f"{mine.median_ms:.0f} ms against {its.median_ms:.0f} ms"
        detail += f"; of the least {mine.least_ms / its.least_ms:.2f} x"
        return Row(claim, mine.median_ms / its.median_ms, limit, "x", detail)


def _ours(folder: Path, scheme: Scheme) -> Command:
    """Make a checkout with stand-in stages, build it, and return the command for it."""
    checkout = Checkout(folder, scheme.names)
    shutil.copyfile(HERE / "copying.py", folder / "ascendflow/stages/standin.py")
    for name in scheme.names:
        pipeline = f"pipelines/{name}"
        scheme.write_weights(folder / pipeline / "weights.pt", name)
        checkout.edit(
            f"{pipeline}/manifest.yaml",
            "arguments: {classes: 5}",
            "arguments: {classes: 5}, weights: {file: weights.pt}",
        )
    doit = Command([DOIT], folder, environment(folder))
    doit._replace(arguments=[DOIT, "-n", "2"]).run()
    return doit


def _fix(folder: Path, number: int) -> None:
    if folder.name != OURS:
        chain.fix(folder, number)
        return
    manifest = folder / MANIFEST
    rules = f"rules: [{{name: resize-half-pixel, count: {number}}}]"
    manifest.write_text(re.sub(r"rules: \[.*\]", rules, manifest.read_text()))


def _touch(folder: Path, number: int) -> None:
    """Give every file another mtime, as a cache that was unpacked has.

    But not the tool's own: no other tool's are touched, and Python compiles them anew.
    """
    for place, folders, names in os.walk(folder):
        if place == str(folder / OURS):
            folders.clear()
            continue
        for name in names:
            os.utime(os.path.join(place, name), (10**9 + number, 10**9 + number))


def _own_ms(folder: Path) -> float:
    """Add up what the stages took that ran the last time, their processes' start too."""
    seconds = json.loads((folder / ".ascendflow/timings.json").read_text())
    return sum(1000 * float(seconds[f"{stage}:m0"]) for stage in RERUN)


def _executed(run: Times) -> tuple[str, ...]:
    return tuple(re.findall(r"^   ([a-z]+):m\d+ executed", run.said, re.MULTILINE))


if __name__ == "__main__":
    wanted = [int(text) for text in sys.argv[1:]] or [each.models for each in SCHEMES]
    print(table(measure([each for each in SCHEMES if each.models in wanted])))
