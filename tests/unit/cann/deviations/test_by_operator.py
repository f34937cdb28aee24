from __future__ import annotations

import pytest

from ascendflow.cann.deviations import DEVIATIONS
from ascendflow.cann.deviations.by_operator import looked_up_deviation, node_deviations
from ascendflow.cann.deviations.deviation import LookedUpDeviation, NodeDeviation


def test_every_deviation_of_nodes_is_asked_for_its_operators_in_order() -> None:
    known = [each for each in DEVIATIONS if isinstance(each, NodeDeviation)]
    types = {op_type for each in known for op_type in each.op_types}

    for op_type in types:
        wanted = [each.name for each in known if op_type in each.op_types]
        assert [each.name for each in node_deviations(op_type)] == wanted


def test_an_operator_that_none_declares_asks_none() -> None:
    assert node_deviations("Relu6") == ()


@pytest.mark.parametrize(
    ("op_type", "name"),
    [
        ("Loop", "loop-unregistered"),
        ("ReduceL2", "reduce-norm-unregistered"),
        ("Relu", "op-unregistered"),
        ("NoSuchOperator", "op-unregistered"),
    ],
)
def test_one_answers_for_each_operator(op_type: str, name: str) -> None:
    assert looked_up_deviation(op_type).name == name


def test_no_two_answer_for_the_same_operator() -> None:
    own = [
        op_type
        for each in DEVIATIONS
        if isinstance(each, LookedUpDeviation)
        for op_type in each.op_types or ()
    ]
    assert len(own) == len(set(own))
