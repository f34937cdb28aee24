from __future__ import annotations

import pytest

from ascendflow.cann.settings import CustomTypes, Settings, why_refused
from ascendflow.cann.target import Target
from tests.emulation import target


def test_equal_modes_of_both_spellings_are_one() -> None:
    pairs = {
        "fp16": "force_fp16",
        "origin": "must_keep_origin_dtype",
        "mixed_float16": "allow_mix_precision",
        "allow_mix_precision_fp16": "allow_mix_precision",
        "cube_fp16in_fp32out": "force_fp32",
        "allow_fp32_to_fp16": "allow_fp32_to_fp16",
    }
    for spelled, kept in pairs.items():
        assert Settings.of({"precision_mode": spelled}).mode == kept


def test_the_block_is_read_whole() -> None:
    found = Settings.of(
        {
            "precision_mode": "mixed_float16",
            "keep_dtype": ["a", "OpType::Exp"],
            "modify_mixlist": {"black": ["Log"], "white": [], "gray": ["Pow"]},
            "customize_dtypes": {"a": {"inputs": ["float16", None], "outputs": []}},
            "op_select_implmode": "high_precision",
            "optypelist_for_implmode": ["Gelu"],
            "is_weight_clip": False,
        }
    )

    assert found.keep_dtype == ("a", "OpType::Exp")
    assert found.mixlist == {"Log": "black", "Pow": "gray"}
    assert found.customize_dtypes == {"a": CustomTypes(("float16", None), ())}
    assert str(found.customize_dtypes["a"]) == "float16,None -> any"
    assert found.clips_weights is False


# As impl_mode/*.ini of 8.1.RC1 and the options' documents say.
@pytest.mark.parametrize(
    ("implmode", "listed", "gelu", "reduce_mean"),
    [
        (None, (), "high_precision", "high_performance"),
        ("high_performance", (), "high_precision", "high_performance"),
        ("high_precision", (), "high_precision", "high_precision"),
        ("high_performance_for_all", (), "high_performance", "high_performance"),
        ("high_precision_for_all", (), "high_precision", "high_precision"),
        ("high_performance", ("Gelu",), "high_performance", "high_performance"),
        ("high_precision", ("Gelu",), "high_precision", "high_performance"),
    ],
)
def test_implementations(
    implmode: str | None, listed: tuple[str, ...], gelu: str, reduce_mean: str
) -> None:
    settings = Settings(implmode=implmode, implmode_types=listed)

    assert settings.implementation("Gelu") == gelu
    assert settings.implementation("Sigmoid") == settings.implementation("Tanh")
    assert settings.implementation("ReduceMean") == reduce_mean
    assert settings.implementation("ReduceMeanD") == "high_performance"


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({}, None),
        ({"modify_mixlist": {"black": ["Exp"]}}, "is for mixed precision"),
        ({"optypelist_for_implmode": ["Gelu"]}, "needs op_select_implmode"),
        (
            {
                "op_select_implmode": "high_performance_for_all",
                "optypelist_for_implmode": ["Gelu"],
            },
            "is for high_performance and high_precision",
        ),
    ],
)
def test_what_atc_refuses_together(settings: dict[str, object], reason: str | None) -> None:
    found = why_refused({**target(), **settings})

    assert found is None if reason is None else reason in str(found)


@pytest.mark.parametrize(
    ("cann", "given", "clips"),
    [
        ("8.1", None, False),
        ("8.5.0", None, True),
        ("8.5.0", False, False),
        ("8.1", True, True),
    ],
)
def test_constants_are_clipped_since_8_5(
    cann: str, *, given: bool | None, clips: bool
) -> None:
    conditions = Target.of(target(cann=cann, is_weight_clip=given)).conditions(half=True)

    assert conditions.clips_weights is clips
