"""OMs are written by protobuf itself, from GE's definitions, or are real files."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ascendflow.backends.cann.made_om import made_om, om_problem, refuse_another
from ascendflow.backends.cann.toolkit import Toolkit
from ascendflow.errors import StageError, ToolFailedError
from tests import om_files

VERSION = "7.7.0.1.238"
REAL = ["dynamic_and_static_graph_without_unfold.om", "root_model.om", "flow_model.om"]


def installed(*others: str, **versions: str) -> Toolkit:
    named = versions or {"compiler": VERSION, "opp": VERSION}
    everything = frozenset((*named.values(), *others))
    place = Path("cann")
    return Toolkit(place, "x86_64", place, place, "8.1.RC1", named, everything)


@pytest.mark.parametrize("name", REAL)
def test_real_files_hold_and_are_refused_cut_or_grown(
    shared: Path, tmp_path: Path, name: str
) -> None:
    content = (shared / "om" / name).read_bytes()
    file = tmp_path / "a.om"

    assert om_problem(shared / "om" / name) is None
    for changed in (content[:-1], content + b"\0", content[:100], content[:3], b""):
        file.write_bytes(changed)
        assert om_problem(file) is not None


def test_problem_is_told_without_the_path(tmp_path: Path) -> None:
    file = tmp_path / "a.om"
    file.write_bytes(b"PK\3\4" + b"\0" * 300)
    assert str(om_problem(file)).startswith("no OM file: it begins with b'PK")
    assert om_problem(tmp_path / "b.om") == "cannot be read: No such file or directory"
    with pytest.raises(StageError, match="no OM file"):
        made_om(file)


def test_what_an_om_says_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "model.om"
    file.write_bytes(om_files.static())

    om = made_om(file)

    normalised = om.pop("normalised_sha256")  # type: ignore[misc]  # held in tests of om
    assert om == {
        "file": "model.om",
        "sha256": hashlib.sha256(om_files.static()).hexdigest(),
        "atc_version": "7.7.0.1.238",
        "opp_version": "7.7.0.1.238",
        "soc_version": "Ascend310P3",
        "atc_cmdline": om_files.COMMAND,
    }
    assert len(normalised) == 64
    refuse_another(made_om(file), installed(), "Ascend310P3")


def test_digests_tell_a_changed_path_from_a_changed_model(tmp_path: Path) -> None:
    made = []
    for values in ({}, {"atc_cmdline": "/usr/bin/atc.bin --model=b"}, {"scale": 0.25}):
        file = tmp_path / "model.om"
        file.write_bytes(om_files.static(values))
        made.append(made_om(file))

    assert len({om["sha256"] for om in made}) == 3
    assert made[0]["normalised_sha256"] == made[1]["normalised_sha256"]
    assert made[0]["normalised_sha256"] != made[2]["normalised_sha256"]


def test_every_difference_is_told_with_both_values(tmp_path: Path) -> None:
    file = tmp_path / "model.om"
    file.write_bytes(om_files.static({"opp_version": "7.6.0"}))

    with pytest.raises(ToolFailedError) as caught:
        refuse_another(made_om(file), installed(), "Ascend910B4")

    assert caught.value.message == (
        "convert: model.om is of another toolkit than the one that was run: it says "
        "opp_version '7.6.0', and the toolkit's opp is '7.7.0.1.238'; it says "
        "soc_version 'Ascend310P3', and convert.soc_version is 'Ascend910B4'"
    )


def test_what_neither_side_says_is_no_difference(tmp_path: Path) -> None:
    file = tmp_path / "model.om"
    file.write_bytes(om_files.static({"opp_version": "", "soc_version": ""}))

    om = made_om(file)

    assert (om["opp_version"], om["soc_version"]) == (None, None)
    refuse_another(om, installed(opp=VERSION), "Ascend910B4")


def test_version_of_any_package_of_the_toolkit_is_its_own(tmp_path: Path) -> None:
    file = tmp_path / "model.om"
    file.write_bytes(om_files.static({"atc_version": "8.5.0.2"}))

    refuse_another(made_om(file), installed("8.5.0.2"), "Ascend310P3")
    with pytest.raises(ToolFailedError, match=r"atc_version '8\.5\.0\.2', and the toolkit"):
        refuse_another(made_om(file), installed("8.5.0.1"), "Ascend310P3")
