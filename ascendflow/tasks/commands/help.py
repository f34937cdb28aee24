"""`ascendflow help`: doit's, below a line that says whose commands these are."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from doit.cmd_help import Help as DoitHelp

from ascendflow.tasks.commands.withheld import Withheld

if TYPE_CHECKING:
    from collections.abc import Mapping

ABOUT = (
    "ascendflow -- takes PyTorch and ONNX models to Ascend, gated on accuracy\n"
    "Start with `ascendflow init MODEL`, then `ascendflow model=MODEL`. Runs on doit:\n\n"
)


class Help(DoitHelp):
    """doit's own, which speaks of doit alone."""

    name = "help"

    def print_usage(self, cmds: Mapping[str, Any]) -> None:
        """Say what this is, then list the commands."""
        sys.stdout.write(ABOUT)
        super().print_usage({n: c for n, c in cmds.items() if not issubclass(c, Withheld)})
