"""Which flags CANN's parsers make of a mode; positions are tested with the kernels."""

from __future__ import annotations

import pytest

from ascendflow.cann.sampling import Sampling, sampling_of

ASYMMETRIC, HALF_PIXEL = Sampling.ASYMMETRIC, Sampling.HALF_PIXEL


@pytest.mark.parametrize(
    ("mode", "up_to_8_4", "nearest_from_8_5"),
    [
        ("half_pixel", ASYMMETRIC, HALF_PIXEL),
        ("pytorch_half_pixel", HALF_PIXEL, HALF_PIXEL),
        ("align_corners", Sampling.ALIGN_CORNERS, Sampling.ALIGN_CORNERS),
        ("asymmetric", ASYMMETRIC, ASYMMETRIC),
        ("tf_half_pixel_for_nn", ASYMMETRIC, ASYMMETRIC),
        ("tf_crop_and_resize", ASYMMETRIC, ASYMMETRIC),
    ],
)
def test_the_parser_knows_two_strings_and_a_third_from_8_5_on(
    mode: str, up_to_8_4: Sampling, nearest_from_8_5: Sampling
) -> None:
    for linear in (False, True):
        assert sampling_of(mode, is_open=False, linear=linear) is up_to_8_4
    assert sampling_of(mode, is_open=True, linear=False) is nearest_from_8_5
