"""Text that may quote anybody, spelled so that a terminal shows it and obeys nothing."""

from __future__ import annotations

LONGEST_LINE = 2000
"""Characters of one line of a message: a user's exception may hold megabytes."""


def printable(name: str) -> str:
    """Spell out what a terminal would obey or not show: names come from models."""
    if name.isprintable():
        return name
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in name
    )


def told(text: str) -> str:
    """Spell a message of several lines for a terminal, whatever it quotes."""
    if text[:-1].isprintable() and text[-1:] == "\n" and len(text) <= LONGEST_LINE:
        return text  # as most lines of a run are
    return "\n".join(_shortened(printable(line)) for line in text.split("\n"))


def _shortened(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    half = LONGEST_LINE // 2
    return f"{line[:half]} [... {len(line) - 2 * half} more ...] {line[-half:]}"
