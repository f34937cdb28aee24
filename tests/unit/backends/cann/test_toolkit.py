from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow.backends.cann.toolkit import (
    find_toolkit,
    has_driver,
    is_release,
    key_files,
)
from ascendflow.errors import StageError, ToolNotFoundError
from tests.toolkits import make_toolkit

if TYPE_CHECKING:
    from pathlib import Path


def test_toolkit_is_looked_over(tmp_path: Path) -> None:
    root = make_toolkit(tmp_path / "latest")

    found = find_toolkit(root, "aarch64")

    assert (found.atc, found.set_env) == (root / "bin/atc", root / "set_env.sh")
    assert found.version == "8.1.RC1"
    assert found.versions == dict.fromkeys(("compiler", "opp", "runtime"), "7.7.0.1.238")
    assert found.all_versions == {"7.7.0.1.238"}
    split = root / "share" / "info" / "ge-compiler"
    split.mkdir(parents=True)
    (split / "version.info").write_text("Version=8.5.0.2\n")
    assert find_toolkit(root, "aarch64").all_versions == {"7.7.0.1.238", "8.5.0.2"}


@pytest.mark.parametrize(
    "folder", ["compiler/data", "data", "aarch64-linux/data", "atc/data"]
)
def test_socs_are_the_names_of_the_toolkits_own_files(tmp_path: Path, folder: str) -> None:
    root = make_toolkit(tmp_path / "latest")
    assert find_toolkit(root, "aarch64").socs == ()
    platforms = root / folder / "platform_config"
    platforms.mkdir(parents=True)
    for name in ("Ascend310P3.ini", "Ascend950PR_9599.ini", "readme.txt"):
        (platforms / name).touch()

    assert find_toolkit(root, "aarch64").socs == ("Ascend310P3", "Ascend950PR_9599")


def test_older_layout_has_its_script_beside(tmp_path: Path) -> None:
    root = make_toolkit(tmp_path / "latest")
    (root / "set_env.sh").rename(tmp_path / "set_env.sh")
    (root / "compiler" / "bin").mkdir()
    (root / "bin" / "atc").rename(root / "compiler" / "bin" / "atc")

    found = find_toolkit(root, "aarch64")

    assert found.set_env == tmp_path / "set_env.sh"
    assert found.atc == root / "compiler/bin/atc"


@pytest.mark.parametrize(
    ("file", "text", "version"),
    [
        (
            "aarch64-linux/ascend_toolkit_install.info",
            "package_name=Ascend-cann-toolkit\nversion=8.2.RC1\n",
            "8.2.RC1",
        ),
        (
            "version.cfg",
            "# version: 1.0\ntoolkit_running_version=[7.6.0.1.220:8.0.0]\n",
            "8.0.0",
        ),
    ],
)
def test_version_is_read_where_it_stands(
    tmp_path: Path, file: str, text: str, version: str
) -> None:
    root = make_toolkit(tmp_path / "latest")
    for info in (root / "compiler/version.info", *root.glob("*-linux/*.info")):
        info.unlink()
    (root / file).parent.mkdir(exist_ok=True)
    (root / file).write_text(text)

    assert find_toolkit(root, "aarch64").version == version


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(ToolNotFoundError, match=r"^convert\.toolkit: .* holds no atc"):
        find_toolkit(tmp_path, "aarch64")
    root = make_toolkit(tmp_path / "a" / "latest")
    for info in (root / "compiler/version.info", *root.glob("*-linux/*.info")):
        info.unlink()
    with pytest.raises(StageError, match="version of CANN cannot be told"):
        find_toolkit(root, "aarch64")
    (root / "set_env.sh").unlink()
    with pytest.raises(
        ToolNotFoundError, match=r"^convert\.toolkit: .* holds no set_env\.sh"
    ):
        find_toolkit(root, "aarch64")


@pytest.mark.parametrize(
    ("asked", "installed", "fits"),
    [
        ("8.1", "8.1.RC1", True),
        ("8.1.RC1", "8.1.RC1", True),
        ("8.1.rc1", "8.1.RC1", True),
        ("8.1", "8.10", False),
        ("8.1.RC1", "8.1.RC2", False),
        ("8.1.RC1", "8.1", False),
    ],
)
def test_release_is_compared_part_by_part(asked: str, installed: str, fits: bool) -> None:
    assert is_release(asked, installed) == fits


def test_driver_is_found_by_its_library(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    info = tmp_path / "ascend_install.info"
    info.write_text(f"Driver_Install_Path_Param={tmp_path}/Ascend\n")

    assert not has_driver(nowhere, nowhere)
    assert not has_driver(nowhere, info)
    library = tmp_path / "Ascend" / "driver" / "lib64" / "driver" / "libascend_hal.so"
    library.parent.mkdir(parents=True)
    library.touch()
    assert has_driver(nowhere, info)


def test_key_has_the_commands_and_the_versions() -> None:
    files = key_files("/cann/latest", "aarch64")

    assert {
        "/cann/latest/bin/atc",
        "/cann/latest/bin/atc.bin",
        "/cann/latest/opp/version.info",
        "/cann/set_env.sh",
    } <= {*files}


def test_folder_that_no_system_has_holds_no_toolkit(tmp_path: Path) -> None:
    with pytest.raises(ToolNotFoundError, match="holds no atc"):
        find_toolkit(tmp_path / ("a" * 5000), "x86_64")
