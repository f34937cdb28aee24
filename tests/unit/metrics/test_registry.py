from __future__ import annotations

from pkgutil import resolve_name

import numpy as np
import pytest

from ascendflow.metrics.measure import measure
from ascendflow.metrics.registry import METRICS
from ascendflow.vocabulary import METRICS as NAMES


def test_the_registry_is_the_vocabulary_in_its_order() -> None:
    assert tuple((name, metric.direction) for name, metric in METRICS.items()) == NAMES


def test_every_metric_is_measured() -> None:
    floats, flags = np.ones(3), np.ones(3, bool)

    assert {*measure(floats, floats).metrics, *measure(flags, flags).metrics} == set(
        METRICS
    )


@pytest.mark.parametrize("name", METRICS)
def test_every_definition_says_what_it_is(name: str) -> None:
    metric = METRICS[name]
    function = resolve_name(f"ascendflow.metrics.{metric.definition}")

    assert function.__name__ == name
    assert function.__doc__
    assert metric.formula
    assert metric.unit in {"1", "nat", "tensor"}
