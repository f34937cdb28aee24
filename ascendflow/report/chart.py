"""How far the target is from the golden, node by node: the bars of an inline SVG."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from ascendflow.documents.numbers import decode
from ascendflow.metrics.divergent import COSINE_LIMIT
from ascendflow.report.words import near_one
from ascendflow.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ascendflow.documents.report import NodeRow

WIDTH, HEIGHT = 1000, 120
MOST_BARS = 250
"""A bar of a larger model stands for the worst of several neighbours."""

WIDEST = 40

DECADES = 7
LOWEST = f"1e-{DECADES}"
"""The axis is 1 - cosine similarity, from 1e-7 at the bottom to 1 at the top."""


class Bar(NamedTuple):
    """One bar, in units of the view box; `words` show when the mouse rests on it."""

    x: float
    width: float
    height: float
    diverges: bool
    words: str


def bars(nodes: Sequence[NodeRow]) -> list[Bar]:
    """Draw every compared float node, in the order of the model."""
    drawn = [node for node in nodes if "cosine_similarity" in node["metrics"]]
    size = max(math.ceil(len(drawn) / MOST_BARS), 1)
    groups = [drawn[start : start + size] for start in range(0, len(drawn), size)]
    step = min(WIDTH / max(len(groups), 1), WIDEST)
    return [
        Bar(
            x=round(number * step, 1),
            width=round(max(step * 0.8, 1.0), 1),
            height=round(level(worst) * HEIGHT, 1),
            diverges=any(node["diverges"] for node in group),
            words=_words(worst),
        )
        for number, group in enumerate(groups)
        for worst in (max(group, key=level),)
    ]


def limit_height() -> float:
    """Return where the limit lies that locates the first divergent node."""
    return round(_share(COSINE_LIMIT) * HEIGHT, 1)


def decades() -> Iterator[tuple[str, float]]:
    """Yield label and height of each line of the grid."""
    for power in range(-DECADES + 1, 1, 2):
        yield f"1e{power}" if power else "1", round((power + DECADES) / DECADES * HEIGHT, 1)


def level(node: NodeRow) -> float:
    """Return how high a node's bar is, 0 to 1; NaN is as high as can be."""
    return _share(decode(node["metrics"]["cosine_similarity"]))


def _share(cosine: float) -> float:
    if math.isnan(cosine):
        return 1.0
    lowest = 10.0**-DECADES
    distance = min(max(1 - cosine, lowest), 1.0)
    return (math.log10(distance) + DECADES) / DECADES


def _words(node: NodeRow) -> str:
    name = node["node"] or node["tensor"]
    cosine = near_one(node["metrics"]["cosine_similarity"])
    return printable(f"{name} ({node['op_type']}): cosine similarity {cosine}")
