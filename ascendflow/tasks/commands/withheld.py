"""doit's own commands that would switch a gate off, or know nothing of our records.

They are not simply left out: a name that is no command is taken for a task, and `doit` in a
repository of a user's would still have its own.
"""

from __future__ import annotations

from typing import ClassVar

from doit.cmd_base import Command

from ascendflow.errors import UsageError
from ascendflow.tasks.commands.command import complain


class Withheld(Command):
    """Refuses, and says what to do instead.

    Attributes:
        why: what it would do here.
        instead: what to do.
    """

    doc_purpose = "not in a project of ascendflow"
    doc_usage = ""
    doc_description = None
    why: ClassVar[str]
    instead: ClassVar[str]

    def parse_execute(self, in_args: list[str]) -> int:
        """Refuse, whatever is asked."""
        del in_args
        text = f"`{self.bin_name} {self.name}` is not for a project of ascendflow: "
        complain(UsageError(text + self.why, hint=self.instead))
        return UsageError.exit_code


class Ignore(Withheld):
    """Would skip a stage, a gate among them, and pass."""

    name = "ignore"
    why = "a stage that is left out, a gate among them, would pass for one that passed"
    instead = (
        "build up to the stage before (`doit compare:MODEL`), or write another limit "
        "under `gate` in the manifest"
    )


class ResetDep(Withheld):
    """Would call stages up to date that nobody judged."""

    name = "reset-dep"
    why = "it would save stages as up to date that nobody judged"
    instead = "records say what is up to date: `doit explain`; `doit forget` restores anew"


class DumpDb(Withheld):
    """Would not find doit's own database."""

    name = "dumpdb"
    why = "doit's database says nothing of what was built"
    instead = "see `doit explain`, and record.json in each folder below build/MODEL/"


class Strace(Withheld):
    """Would run a stage that runs in a child, and see nothing."""

    name = "strace"
    why = "stages run in children of their own, and what they read is recorded"
    instead = "see `reads` in build/MODEL/STAGE/record.json"


WITHHELD = (Ignore, ResetDep, DumpDb, Strace)
