from __future__ import annotations

import json

import pytest

from ascendflow.plan import Plan, made_as
from tests.workshops import PLAN, planned


def test_plan_survives_json() -> None:
    assert Plan.from_json(json.loads(json.dumps(PLAN.to_json()))) == PLAN
    with pytest.raises(AttributeError):
        PLAN.model = "other"  # type: ignore[misc]


@pytest.mark.parametrize("damage", ["stages", "model"])
def test_json_that_is_no_plan_is_an_error(damage: str) -> None:
    data = PLAN.to_json()
    del data[damage]

    with pytest.raises((KeyError, TypeError)):
        Plan.from_json(data)


def test_no_stage_of_that_name_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="convrt"):
        PLAN.stage("convrt")


def test_name_of_a_stage_says_its_kind_and_its_backend() -> None:
    alone, one = planned("convert", {}, ()), planned("convert@cann", {}, ())

    assert (alone.kind, alone.branch) == ("convert", "")
    assert (one.kind, one.branch) == ("convert", "cann")
    plan = PLAN._replace(stages=(one, planned("gate", {}, ())))
    assert plan.all_of("convert") == [one]


def test_role_of_one_backend_is_what_its_stage_made_under_the_last_part() -> None:
    assert made_as("cann/metrics.json") == "metrics.json"
    assert made_as("metrics.json") == "metrics.json"
