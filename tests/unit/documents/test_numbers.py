from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascendflow.documents.numbers import decode, encode


@given(st.floats(allow_nan=False))
def test_any_number_survives_json_unchanged(value: float) -> None:
    text = json.dumps(encode(value), allow_nan=False)

    assert decode(json.loads(text)) == value


def test_nan_is_written_as_a_word_and_read_as_nan() -> None:
    assert encode(math.nan) == "NaN"
    assert math.isnan(decode("NaN"))


@pytest.mark.parametrize("word", ["nan", "inf", "1.0", "", "-NaN"])
def test_a_word_that_is_never_written_is_refused(word: Any) -> None:
    with pytest.raises(ValueError, match="neither a number"):
        decode(word)


@pytest.mark.parametrize("value", [True, None, [1.0]])
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="is not a number"):
        decode(value)
