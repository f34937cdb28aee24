from __future__ import annotations

from ascendflow import vocabulary
from ascendflow.cann.deviations import DEVIATIONS


def test_names_are_unique_and_cures_are_rules() -> None:
    names = [deviation.name for deviation in DEVIATIONS]
    cures = {deviation.cure for deviation in DEVIATIONS} - {None}

    assert len(set(names)) == len(names)
    assert cures <= {rule for rule, _ in vocabulary.RULES}


def test_every_deviation_says_where_it_was_read() -> None:
    assert all(deviation.source and deviation.op_types for deviation in DEVIATIONS)
