from __future__ import annotations

import pytest

from ascendflow.atc_words import SOC_VERSIONS
from ascendflow.cann.soc import FAMILIES, MODELLED, NAMED_ONLY, soc, why_not_modelled


# platform_config's Intrinsic_mmad and the runtime's overflow modes
@pytest.mark.parametrize(
    ("soc_version", "family", "fp32_cube", "overflow"),
    [
        ("Ascend310", "ascend310", False, "saturate"),
        ("Ascend310P3", "ascend310p", False, "saturate"),
        ("Ascend310B1", "ascend310b", True, "saturate"),
        ("Ascend910A", "ascend910a", False, "saturate"),
        ("Ascend910B", "ascend910a", False, "saturate"),  # no digit: first generation
        ("Ascend910B1", "ascend910b", True, "inf"),
        ("Ascend910B4-1", "ascend910b", True, "inf"),
        ("Ascend910_9391", "ascend910_93", True, "inf"),
    ],
)
def test_a_soc_version_leads_to_its_arithmetic(
    soc_version: str, family: str, fp32_cube: bool, overflow: str
) -> None:
    found = soc(soc_version)

    assert (found.family, found.fp32_cube, found.overflow) == (family, fp32_cube, overflow)


@pytest.mark.parametrize("fact", ["fp32_functions", "int32_by_fp32"])
def test_only_310_lacks_fp32_in_its_vector_unit(fact: str) -> None:
    """Ascend310.ini of 8.1.RC1; aic-ascend310-ops-info.json."""
    assert [name for name, each in FAMILIES.items() if not getattr(each, fact)] == [
        "ascend310"
    ]


def test_what_is_modelled_is_what_atc_knows() -> None:
    assert {*MODELLED, *NAMED_ONLY} == set(SOC_VERSIONS)
    assert set(MODELLED.values()) == set(FAMILIES)


@pytest.mark.parametrize(
    ("soc_version", "reason"),
    [
        ("Ascend910_95", "is not modelled: its arithmetic is unknown"),
        ("ascend310p3", "did you mean 'Ascend310P3'"),
        (
            "RTX4090",
            "is not known; modelled: Ascend310, Ascend310P1 to Ascend310P7, Ascend310B1 to",
        ),
        ("Ascend610", "unknown; modelled: Ascend310, "),
        (
            "Ascend310P",
            "mean 'Ascend310P1' or 'Ascend310P3' or 'Ascend310P5' or 'Ascend310P7'?",
        ),
        (
            "Ascend310P9",
            "mean 'Ascend310P1' or 'Ascend310P3' or 'Ascend310P5' or 'Ascend310P7'?",
        ),
        ("Ascend310P33", "did you mean 'Ascend310P3'?"),
        ("Ascend31", "modelled: Ascend310, Ascend310P1 to Ascend310P7, Ascend310B1 to A"),
    ],
)
def test_a_name_that_is_not_modelled_gets_a_reason(soc_version: str, reason: str) -> None:
    assert reason in str(why_not_modelled(soc_version))
