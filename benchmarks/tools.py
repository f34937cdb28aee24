"""Other build tools, told to build the same chain of stages."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.chain import FIXED, Scheme, jobs, write_inputs
from benchmarks.peers import PeerError, peer
from benchmarks.timing import Command, environment

if TYPE_CHECKING:
    from collections.abc import Callable

DODO = """\
import json

def task_stage():
    with open("jobs.json") as file:
        for name, command, inputs, output in json.load(file):
            yield {
                "name": name,
                "actions": [command],
                "file_dep": inputs,
                "targets": [output],
            }
"""

PYTASK = """\
import json
import subprocess
from pathlib import Path
from pytask import task

for name, command, inputs, output in json.loads(Path("jobs.json").read_text()):
    @task(id=name)
    def task_stage(
        depends_on=[Path(path) for path in inputs], produces=Path(output), command=command
    ):
        subprocess.run(command, shell=True, check=True)
"""

RULE = """\
rule {stage}_{model}:
    input: {inputs!r}
    output: {output!r}
    shell: {command!r}
"""


class Tool(NamedTuple):
    """A build tool.

    Attributes:
        name: its name, of its pins in `peers/` too where it has any.
        write: writes its description of the jobs into a folder.
        prepare: the arguments of a command that has to run once before, or none.
        arguments: its command and arguments that build what is out of date.
        adopt: the arguments of a command that takes over what was built without it, for
            a tool that would take ten minutes to build 700 stages; or none.
    """

    name: str
    write: Callable[[Path, Scheme], None]
    prepare: tuple[str, ...]
    arguments: tuple[str, ...]
    adopt: tuple[str, ...] = ()

    def set_up(self, folder: Path, scheme: Scheme) -> Command:
        """Write the chain, build it, and return the command that builds it again.

        Raises:
            PeerError: the tool is not there and cannot be installed.
        """
        folders = os.pathsep.join([str(self._folder()), os.environ["PATH"]])
        variables = {**environment(folder), "PATH": folders, "DVC_NO_ANALYTICS": "1"}
        folder.mkdir()
        write_inputs(folder, scheme)
        self.write(folder, scheme)
        if self.prepare:
            Command(self.prepare, folder, variables).run()
        if self.adopt:
            for job in jobs(scheme):
                Command(("sh", "-c", job.command), folder, variables).run()
            Command(self.adopt, folder, variables).run()
        command = Command(self.arguments, folder, variables)
        command.run()
        return command

    def _folder(self) -> Path:
        name = self.arguments[0]
        if name == "doit":
            return Path(sys.executable).parent
        if name in ("make", "sh"):
            if (found := shutil.which(name)) is None:
                raise PeerError(f"{name} is not installed")
            return Path(found).parent
        return peer(name)


def _write_jobs(folder: Path, scheme: Scheme) -> None:
    table = [(f"{j.stage}:{j.model}", j.command, j.inputs, j.output) for j in jobs(scheme)]
    (folder / "jobs.json").write_text(json.dumps(table))


def _bare(folder: Path, scheme: Scheme) -> None:
    mine = [job for job in jobs(scheme) if job.model == scheme.names[0]]
    for stages in ([job.stage for job in mine], FIXED):
        lines = [job.command for job in mine if job.stage in stages]
        name = "fix.sh" if stages is FIXED else "all.sh"
        (folder / name).write_text("set -e\n" + "\n".join(lines) + "\n")


def _doit(folder: Path, scheme: Scheme) -> None:
    _write_jobs(folder, scheme)
    (folder / "dodo.py").write_text(DODO)


def _pytask(folder: Path, scheme: Scheme) -> None:
    _write_jobs(folder, scheme)
    (folder / "task_chain.py").write_text(PYTASK)
    (folder / "pyproject.toml").write_text("[tool.pytask.ini_options]\n")


def _make(folder: Path, scheme: Scheme) -> None:
    text = [f"all: {' '.join(job.output for job in jobs(scheme))}\n"]
    text += [
        f"{job.output}: {' '.join(job.inputs)}\n\t{job.command}\n" for job in jobs(scheme)
    ]
    (folder / "Makefile").write_text("".join(text))


def _snakemake(folder: Path, scheme: Scheme) -> None:
    outputs = [job.output for job in jobs(scheme)]
    text = [f"rule all:\n    input: {outputs!r}\n"]
    text += [RULE.format(**job._asdict(), command=job.command) for job in jobs(scheme)]
    (folder / "Snakefile").write_text("".join(text))


def _dvc(folder: Path, scheme: Scheme) -> None:
    stages = {
        f"{job.stage}-{job.model}": {
            "cmd": job.command,
            "deps": list(job.inputs),
            "outs": [job.output],
        }
        for job in jobs(scheme)
    }
    (folder / "dvc.yaml").write_text(json.dumps({"stages": stages}))  # JSON is YAML


BARE = Tool("the bare commands", _bare, ("sh", "all.sh"), ("sh", "fix.sh"))
DOIT = Tool("plain doit", _doit, (), ("doit",))
MAKE = Tool("make", _make, (), ("make", "--silent"))
PYTASK_TOOL = Tool("pytask", _pytask, (), ("pytask", "build", "--verbose", "0"))
SNAKEMAKE = Tool("Snakemake", _snakemake, (), ("snakemake", "--cores", "1", "--quiet"))
DVC = Tool(
    "DVC",
    _dvc,
    ("dvc", "init", "--no-scm", "--quiet"),
    ("dvc", "repro", "--quiet"),
    ("dvc", "commit", "--force", "--quiet"),
)
PEERS = (MAKE, PYTASK_TOOL, SNAKEMAKE, DVC)
