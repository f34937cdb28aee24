"""Text that may quote anybody, spelled so that a terminal shows it and obeys nothing."""

from __future__ import annotations

import re

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

LONGEST_LINE = 2000
"""Characters of one line of a message: a user's exception, or a name or an attribute of a
model, may hold megabytes."""


def uncoloured(text: str) -> str:
    """Take out the sequences by which tools colour what they write to a terminal."""
    return _COLOURS.sub("", text)


def printable(line: str) -> str:
    """Spell out what a terminal would obey or not show, and cut what nobody would read."""
    if not line.isprintable():
        line = "".join(
            c if c.isprintable() else c.encode("unicode_escape").decode() for c in line
        )
    return shortened(line, LONGEST_LINE)


def shortened(text: str, longest: int) -> str:
    """Leave the ends of what is longer, and say how much is between them."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]} [... {len(text) - 2 * half} more ...] {text[-half:]}"


def told(text: str) -> str:
    """Spell a message of several lines for a terminal, whatever it quotes."""
    if text[:-1].isprintable() and text[-1:] == "\n" and len(text) <= LONGEST_LINE:
        return text  # as most lines of a run are
    return "\n".join(map(printable, text.split("\n")))
