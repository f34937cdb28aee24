"""What ascendflow adds to doit, each loaded only when it is called."""

from __future__ import annotations

WITHHELD = (
    ("ignore", "ascendflow.tasks.commands.withheld:Ignore"),
    ("reset-dep", "ascendflow.tasks.commands.withheld:ResetDep"),
    ("dumpdb", "ascendflow.tasks.commands.withheld:DumpDb"),
    ("strace", "ascendflow.tasks.commands.withheld:Strace"),
)
"""As COMMANDS: those that are always refused, so that none is ever suggested."""

COMMANDS = (
    ("run", "ascendflow.tasks.commands.run:Run"),
    ("list", "ascendflow.tasks.commands.list:List"),
    ("clean", "ascendflow.tasks.commands.clean:Clean"),
    ("forget", "ascendflow.tasks.commands.forget:Forget"),
    ("info", "ascendflow.tasks.commands.info:Info"),
    ("explain", "ascendflow.tasks.commands.explain:Explain"),
    ("verify-store", "ascendflow.tasks.commands.verify_store:VerifyStore"),
    ("gc", "ascendflow.tasks.commands.gc:Gc"),
    ("doctor", "ascendflow.tasks.commands.doctor:Doctor"),
    ("init", "ascendflow.tasks.commands.init:Init"),
    ("inspect", "ascendflow.tasks.commands.inspect:Inspect"),
    ("lint", "ascendflow.tasks.commands.lint:Lint"),
    ("schema", "ascendflow.tasks.commands.schema:Schema"),
    ("precision", "ascendflow.tasks.commands.precision:Precision"),
    ("help", "ascendflow.tasks.commands.help:Help"),
    *WITHHELD,
)
"""(name, "module:Class"), as `[tool.doit.plugins.command]` in pyproject.toml has them."""

DATABASES = (("ascendflow", "ascendflow.tasks.database:Database"),)
"""(name, "module:Class"), as `[tool.doit.plugins.backend]` in pyproject.toml has it."""
