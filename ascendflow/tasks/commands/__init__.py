"""ascendflow's commands for doit, each loaded only when it is called."""

from __future__ import annotations

COMMANDS = (
    ("run", "ascendflow.tasks.commands.run:Run"),
    ("explain", "ascendflow.tasks.commands.explain:Explain"),
    ("verify-store", "ascendflow.tasks.commands.verify_store:VerifyStore"),
    ("gc", "ascendflow.tasks.commands.gc:Gc"),
    ("init", "ascendflow.tasks.commands.init:Init"),
    ("schema", "ascendflow.tasks.commands.schema:Schema"),
)
"""(name, "module:Class"), as `[tool.doit.plugins.command]` in pyproject.toml has them."""
