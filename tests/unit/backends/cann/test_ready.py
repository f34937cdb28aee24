from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.backends.cann.backend import Cann
from ascendflow.backends.emulator.backend import Emulator
from tests.toolkits import config, make_python, make_toolkit

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def convert(tmp_path: Path) -> dict[str, Any]:
    return config(make_toolkit(tmp_path / "cann"), make_python(tmp_path / "py"))


def infer(toolkit: str, python: str, host: str | None = None) -> dict[str, Any]:
    return {"options": {"toolkit": toolkit, "python": python, "host": host}}


def test_nothing_is_missing_where_all_is_there(convert: dict[str, Any]) -> None:
    options = convert["options"]
    run = infer(options["toolkit"], options["python"])

    assert Cann().missing({"convert": convert, "infer": run}) == []
    assert Emulator().missing({"convert": {"backend": "emulator"}}) == []


def test_all_that_is_missing_is_told_by_the_keys_that_name_it(tmp_path: Path) -> None:
    nowhere = config(tmp_path / "cann", tmp_path / "python3")

    told = Cann().missing(
        {"convert": nowhere, "infer": infer("/board/cann", "/board/python3")}
    )

    assert [line.partition("\n")[0] for line in told] == [
        f"convert.toolkit: {tmp_path}/cann holds no atc",
        f"convert.python: {tmp_path}/python3 is not there",
        "infer.toolkit: /board/cann holds no atc",
        "infer.python: /board/python3 is not there",
    ]
    assert f"looked for {tmp_path}/cann/compiler/bin/atc, " in told[0]


def test_what_infer_takes_over_from_convert_is_told_once(tmp_path: Path) -> None:
    nowhere = config(tmp_path / "cann", tmp_path / "python3")
    options = nowhere["options"]

    told = Cann().missing(
        {"convert": nowhere, "infer": infer(options["toolkit"], options["python"])}
    )

    assert len(told) == 2


def test_what_a_board_has_is_not_looked_for_here(convert: dict[str, Any]) -> None:
    run = infer("/board/cann", "/board/python3", host="root@board")

    assert Cann().missing({"convert": convert, "infer": run}) == []


def test_way_to_a_board_is_looked_for_here(
    convert: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ssh").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    run = infer("/board/cann", "/board/python3", host="root@board")

    assert Cann().missing({"convert": convert, "infer": run}) == [
        "infer.host needs sftp\n  hint: apt install openssh-client"
    ]


def test_toolkit_of_another_version_or_without_the_soc_is_told_too(
    convert: dict[str, Any], tmp_path: Path
) -> None:
    (told,) = Cann().missing({"convert": convert | {"cann": "8.5"}})
    assert told.startswith("convert.cann is '8.5', and ")
    assert "holds CANN 8.1.RC1" in told

    platforms = tmp_path / "cann" / "compiler" / "data" / "platform_config"
    platforms.mkdir(parents=True)
    (platforms / "Ascend910B4.ini").touch()
    (told,) = Cann().missing({"convert": convert})
    assert "convert.soc_version is 'Ascend310P3'" in told
    assert "Ascend910B4" in told


def test_python_that_may_not_be_run_is_told(
    convert: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "py" / "bin" / "python3").chmod(0o644)

    (told,) = Cann().missing({"convert": convert})

    assert "bin/python3 cannot be run" in told
