"""Contrast -> one HTML page that needs nothing beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.report import contrast_words, words
from ascendflow.report.render import environment
from ascendflow.terminal import printable

if TYPE_CHECKING:
    from ascendflow.documents.contrast import Contrast

MOST_ROWS = 200
"""Further rows are in contrast.json alone."""


def render(contrast: Contrast) -> str:
    """Render the page; names are escaped, and equal documents give equal bytes."""
    made = environment()
    made.filters |= {
        "name": printable,
        "counted": words.counted,
        "shown": words.shown,
        "near_one": words.near_one,
        "side_words": contrast_words.side_words,
        "output_words": contrast_words.output_words,
        "standing_words": contrast_words.STANDINGS.__getitem__,
    }
    page = made.get_template("contrast.html.j2").render(
        contrast=contrast,
        verdicts=contrast_words.verdicts_words(contrast),
        summary=contrast_words.nodes_words(contrast),
        rows=contrast["nodes"][:MOST_ROWS],
    )
    return page + "\n"
