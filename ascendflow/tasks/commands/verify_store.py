"""`doit verify-store [--repair]`: read every stored content and record."""

from __future__ import annotations

from doit.cmd_base import DoitCmdBase

from ascendflow.tasks.commands.command import WithoutTraceback
from ascendflow.tasks.commands.options import switch
from ascendflow.tasks.session import SESSION


class VerifyStore(WithoutTraceback, DoitCmdBase):
    """Reads the whole store; with `--repair` drops what is corrupt."""

    name = "verify-store"
    doc_purpose = "check the content of every stored artifact"
    doc_usage = ""
    doc_description = "Exits with 2 where something is corrupt and was not repaired."
    cmd_options = (
        switch("repair", "drop what is corrupt; its stages run again when they are needed"),
    )

    def _execute(self, repair: bool) -> int:
        problems = SESSION.project.store.verify(repair=repair)
        for problem in problems:
            self.outstream.write(f"{problem}\n")
        found = f"{len(problems)} problem{'' if len(problems) == 1 else 's'}"
        if problems and not repair:
            self.outstream.write(
                f"store: {found}\n  hint: run `doit verify-store --repair`\n"
            )
            return 2
        self.outstream.write(f"store: {found + ', repaired' if problems else 'all good'}\n")
        return 0
