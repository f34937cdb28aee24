"""Which version runs what: CANN's documents of compatibility."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ascendflow.backends.cann.fits_device import There, hold_to_device
from ascendflow.backends.cann.own_word import OwnWord
from ascendflow.backends.cann.signature import DYNAMIC, STATIC, Signature
from ascendflow.errors import StageError

VERSION = "7.7.0.1.238"


def built(shapes: str = STATIC, cann: str = "8.1.RC1") -> Signature:
    return {
        "schema_version": 1,
        "soc_version": "Ascend310P3",
        "cann": cann,
        "opp": VERSION,
        "shapes": shapes,
        "input_shape": {},
        "gears": [],
        "inputs": [],
        "outputs": [],
        "nodes": {},
    }


def own(**said: Any) -> OwnWord:
    silent = OwnWord(Path("model.om"), None, None, None, is_dynamic=False, cpu=None)
    return silent._replace(**said)


def there(cann: str = "8.1.RC1", **versions: str) -> There:
    return There(cann, versions, "x86_64")


@pytest.mark.parametrize("runs", ["8.1.RC1", "8.1", "8.2.RC1", "8.5.0", "9.0.0", "10.0"])
def test_om_runs_on_its_own_cann_and_later_ones(runs: str) -> None:
    hold_to_device(built(), own(), there(runs))


@pytest.mark.parametrize("runs", ["8.0.RC3", "7.0.0", "6.0.RC1", "", "new", "8"])
def test_older_cann_or_none_that_is_known_is_refused(runs: str) -> None:
    with pytest.raises(StageError, match=r"built by CANN 8\.1\.RC1, and"):
        hold_to_device(built(), own(), there(runs))


def test_patch_of_a_release_counts() -> None:
    with pytest.raises(StageError, match=r"8\.5\.1, and 8\.5\.0 is to run"):
        hold_to_device(built(cann="8.5.1"), own(), there("8.5.0"))


@pytest.mark.parametrize(
    ("made", "has"),
    [
        (VERSION, {"compiler": VERSION}),
        (VERSION, {"compiler": "7.6.0.0", "runtime": VERSION}),
        (VERSION, {"compiler": "7.7.0.9.1"}),
        (VERSION, {"runtime": "8.5.0"}),
        ("6.4.T5.0.B121", {"compiler": "6.3.0.1"}),
        (VERSION, {"compiler": "of one's own"}),
        (VERSION, {}),
        (None, {"compiler": "1.0.0"}),
    ],
)
def test_compiler_that_the_om_names_may_be_older_or_of_no_known_age(
    made: str | None, has: dict[str, str]
) -> None:
    hold_to_device(built(), own(atc_version=made), there(**has))


@pytest.mark.parametrize(
    "has", [{"compiler": "7.5.0.1.129"}, {"runtime": "7.6.9"}, {"compiler": "6.4.0.2"}]
)
def test_om_of_a_newer_compiler_than_the_devices_is_refused_by_its_own_word(
    has: dict[str, str],
) -> None:
    # As where the file was exchanged, and model.json still says 8.1.RC1.
    (version,) = has.values()
    with pytest.raises(
        StageError, match=rf"version 7\.7\.0\.1\.238 made it, .* version is {version}"
    ):
        hold_to_device(built(), own(atc_version=VERSION), there(**has))


def test_om_of_another_soc_than_was_built_is_refused() -> None:
    hold_to_device(built(), own(soc_version="Ascend310P3"), there())
    with pytest.raises(StageError, match=r"for Ascend910B4, and .* for Ascend310P3"):
        hold_to_device(built(), own(soc_version="Ascend910B4"), there())


@pytest.mark.parametrize(
    ("shapes", "is_dynamic"), [(DYNAMIC, False), (STATIC, True), (DYNAMIC, True)]
)
def test_dynamic_shape_wants_the_same_operators(shapes: str, is_dynamic: bool) -> None:
    said, word = built(shapes), own(is_dynamic=is_dynamic)
    hold_to_device(said, word, there(opp=VERSION))
    for versions in ({"opp": "7.7.0.1.239"}, {}):
        runs = versions.get("opp")
        with pytest.raises(StageError, match=f"238; where it is to run there is {runs}"):
            hold_to_device(said, word, there(**versions))
    # The OM's own word goes before what was written down.
    word = word._replace(opp_version="7.7.0.1.239")
    hold_to_device(said, word, there(opp="7.7.0.1.239"))
    with pytest.raises(StageError, match=r"239; where it is to run there is .*238"):
        hold_to_device(said, word, there(opp=VERSION))
    said["opp"] = None
    with pytest.raises(StageError, match="package None; where it is to run there is None"):
        hold_to_device(said, word._replace(opp_version=None), there())


def test_dynamic_shape_wants_the_machine_that_it_was_packed_for() -> None:
    word = own(is_dynamic=True, cpu="aarch64")
    here = there(opp=VERSION)
    hold_to_device(built(), word, here._replace(arch="aarch64"))
    with pytest.raises(StageError, match="for aarch64, and the device's machine is x86_64"):
        hold_to_device(built(), word, here)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    word = own(soc_version="Ascend910B4", is_dynamic=True, cpu="aarch64")
    with pytest.raises(StageError) as raised:
        hold_to_device(built(), word, there("8.0.RC3"))
    lines = raised.value.message.splitlines()
    assert [line.split()[1] for line in lines] == ["model.om", "the", "the", "model.om"]
