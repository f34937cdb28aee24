from __future__ import annotations

from typing import Any

import pytest

from ascendflow.report import chart
from ascendflow.report.collect import collect
from tests.reports import failed, node


def _bars(*cosines: float | str) -> list[chart.Bar]:
    documents = failed()
    documents["metrics.json"]["nodes"] = [
        node(f"n{number}", "Conv", [], cosine) for number, cosine in enumerate(cosines)
    ]
    return chart.bars(collect(documents)["nodes"])


@pytest.mark.parametrize(
    ("cosine", "share"),
    [
        pytest.param(1.0, 0.0, id="the-same"),
        pytest.param(0.99, 5 / 7, id="1e-2-of-seven-decades"),
        pytest.param(0.0, 1.0, id="unrelated"),
        pytest.param(-1.0, 1.0, id="opposite"),
        pytest.param("NaN", 1.0, id="nan"),
    ],
)
def test_a_bar_is_as_high_as_its_decade(cosine: Any, share: float) -> None:
    (bar,) = _bars(cosine)

    assert bar.height == pytest.approx(share * chart.HEIGHT, abs=0.05)


def test_the_limit_lies_where_a_node_at_the_limit_reaches() -> None:
    (bar,) = _bars(0.99)

    assert bar.height == chart.limit_height()


def test_a_bar_of_a_large_model_shows_the_worst_of_its_neighbours() -> None:
    cosines = [1.0] * 5000
    cosines[2601] = 0.5

    bars = _bars(*cosines)

    assert len(bars) <= chart.MOST_BARS
    (bad,) = [bar for bar in bars if bar.diverges]
    assert bad.words == "n2601 (Conv): cosine similarity 0.5"
    assert max(bar.x + bar.width for bar in bars) <= chart.WIDTH


def test_nodes_without_a_cosine_have_no_bar() -> None:
    documents = failed()
    documents["metrics.json"]["nodes"] = [
        node("i", "ArgMax", [], 1.0, metrics={"mismatch_rate": 0.0})
    ]

    assert chart.bars(collect(documents)["nodes"]) == []
