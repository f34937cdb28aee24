from __future__ import annotations

from ascendflow import vocabulary
from ascendflow.cann.deviations import DEVIATIONS


def test_names_are_unique_and_cures_are_rules() -> None:
    names = [deviation.name for deviation in DEVIATIONS]
    cures = {deviation.cure for deviation in DEVIATIONS} - {None}

    assert len(set(names)) == len(names)
    assert cures <= {rule for rule, _ in vocabulary.RULES}


def test_every_deviation_says_where_it_was_read() -> None:
    for deviation in DEVIATIONS:
        texts = (deviation.source, deviation.onnx, deviation.cann)
        assert all(len(text) > 20 for text in texts), deviation.name
        assert deviation.consequences, deviation.name
