from __future__ import annotations

import pytest

from ascendflow import atc_words
from ascendflow.cann.target import Target, why_refused
from ascendflow.manifest.precision_keys import MODES
from tests.emulation import IEEE, SATURATING, target

TYPES_OF_LATER_CHIPS = (
    "allow_mix_precision_bf16",
    "allow_fp32_to_bf16",
    "mixed_bfloat16",
    "cube_hif8",
    "mixed_hif8",
)
"""bfloat16 and HiFloat8: nobody computes them here, so nothing may pretend to."""


@pytest.mark.parametrize("mode", TYPES_OF_LATER_CHIPS)
def test_mode_of_a_type_that_is_not_computed_is_refused_by_name(mode: str) -> None:
    said = why_refused(target(IEEE, mode))

    assert said is not None
    assert repr(mode) in said
    assert "force_fp16" in said  # what there is instead


def test_every_other_spelling_of_a_mode_is_taken() -> None:
    for mode in set(MODES) - set(TYPES_OF_LATER_CHIPS):
        assert why_refused(target(IEEE, mode)) is None, mode
        assert Target.of(target(IEEE, mode)).settings.mode in atc_words.PRECISION_MODES


def test_first_thing_that_is_not_known_is_told() -> None:
    assert "'3.1'" in str(why_refused(target(cann="3.1", precision_mode="cube_hif8")))
    assert "'Ascend1'" in str(why_refused(target("Ascend1", "cube_hif8")))
    assert "force_fp32" in str(why_refused(target(SATURATING, "force_fp32")))
