from __future__ import annotations

import pytest

from ascendflow.cann.profile import Release, parse, profile, why_not_modelled


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("8.1", Release(8, 1)),
        ("8.1.RC1", Release(8, 1)),
        ("6.0.RC1", Release(6, 0)),
        ("6.0.RC1.alpha003", Release(6, 0)),
        ("8.5.0", Release(8, 5)),
        ("9.2.0-beta.1", Release(9, 2)),
        ("8.10", Release(8, 10)),
        ("8", None),
        ("8.x", None),
        ("", None),
        ("v8.1", None),
    ],
)
def test_versions_are_read_as_huawei_spells_them(
    version: str, release: Release | None
) -> None:
    assert parse(version) == release


@pytest.mark.parametrize(
    "version",
    ["5.0", "5.1.RC2", "6.3.RC2", "7.0.0", "8.0.RC3", "8.1.RC1", "8.5.0", "9.0.0", "9.1"],
)
def test_five_to_nine_one_are_modelled(version: str) -> None:
    assert why_not_modelled(version) is None


@pytest.mark.parametrize("version", ["3.3", "9.2.0-beta.1", "9.10", "10.0.0"])
def test_others_are_not(version: str) -> None:
    assert "5.0 to 9.1" in str(why_not_modelled(version))
    with pytest.raises(ValueError, match="not modelled"):
        profile(version)


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ("8.9", "after 8.5 the next is 9.0"),
        ("8.10", "after 8.5 the next is 9.0"),
        ("5.2", "after 5.1 the next is 6.0"),
        ("7.1.0", "after 7.0 the next is 8.0"),
        # As a toolkit's version.cfg pairs them: [7.7.0.1.238:8.1.RC1].
        ("7.7", "packages of CANN 8.1 have that number"),
        ("7.6.0.1.220", "packages of CANN 8.0 have that number"),
    ],
)
def test_numbers_between_that_are_no_releases_are_not(version: str, says: str) -> None:
    assert f"no release that is known; {says}" in str(why_not_modelled(version))
    with pytest.raises(ValueError, match="no release that is known"):
        profile(version)


def test_what_was_not_read_in_source_may_know_more_opsets() -> None:
    assert profile("6.0.RC1").opsets == (8, 15)
    assert profile("8.1").opsets == (8, 18)


def test_a_release_is_read_open_or_between() -> None:
    assert [
        (profile(version).is_read, profile(version).is_open)
        for version in ("6.0.RC1", "8.1", "8.5.0")
    ] == [(True, False), (False, False), (False, True)]
