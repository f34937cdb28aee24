from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ascendflow.doctor.toolkit import USUAL, find_toolkit
from tests.hosts import KERNELS, LATEST, Host

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.doctor.toolkit import Toolkit


def found(host: Host, asked: str = "") -> Toolkit:
    toolkit = find_toolkit(host.machine(), asked).toolkit
    assert toolkit is not None
    return toolkit


def test_a_toolkit_in_its_usual_folder_is_found_and_read(host: Host) -> None:
    host.toolkit()

    toolkit = found(host)

    assert toolkit.root == LATEST
    assert toolkit.found_by == USUAL
    assert toolkit.version == "8.1.RC1"
    assert toolkit.arch == "x86_64"
    assert toolkit.atc == f"{LATEST}/compiler/bin/atc"
    assert toolkit.set_env == "/usr/local/Ascend/ascend-toolkit/set_env.sh"
    assert toolkit.kernels == ("ascend310p",)
    assert toolkit.socs == ("Ascend310P3", "Ascend910B4")
    assert set(toolkit.packages) == {"compiler", "opp", "runtime", "toolkit"}
    assert set(toolkit.packages.values()) == {"8.1.RC1"}


@pytest.mark.parametrize(
    "folder",
    ["/usr/local/Ascend/cann", "/users/ann/Ascend/cann", "/" + "opt/Ascend/cann"],
)
def test_every_usual_folder_is_looked_at(host: Host, folder: str) -> None:
    host.toolkit("8.5.0", root=folder)

    assert found(host).root == folder
    assert found(host).version == "8.5.0"


@pytest.mark.parametrize(
    "variable", ["ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH", "ASCEND_INSTALL_PATH"]
)
def test_a_variable_goes_before_the_usual_folders(host: Host, variable: str) -> None:
    host.toolkit()
    host.toolkit("8.5.0", root="/data/cann")
    host.environment[variable] = "/data/cann"

    assert found(host).root == "/data/cann"
    assert found(host).found_by == variable


def test_the_option_goes_before_everything_and_is_not_replaced(host: Host) -> None:
    host.toolkit()
    host.environment["ASCEND_TOOLKIT_HOME"] = LATEST

    search = find_toolkit(host.machine(), "../cann")

    assert search.toolkit is None
    assert search.named == search.wrong == (("--toolkit", "/users/ann/cann"),)
    assert found(host, LATEST).found_by == "--toolkit"


@pytest.mark.parametrize(
    "folder", ["/usr/local/Ascend", "/usr/local/Ascend/ascend-toolkit"]
)
def test_the_folder_around_a_toolkit_leads_to_it(host: Host, folder: str) -> None:
    host.toolkit()

    assert found(host, folder).root == LATEST


def test_a_variable_that_leads_nowhere_is_told_and_passed_over(host: Host) -> None:
    host.toolkit()
    host.environment["ASCEND_TOOLKIT_HOME"] = "/gone"

    search = find_toolkit(host.machine(), "")

    assert search.wrong == (("ASCEND_TOOLKIT_HOME", "/gone"),)
    assert search.toolkit is not None
    assert search.toolkit.root == LATEST


@pytest.mark.parametrize("place", ["compiler/bin/atc", "atc/bin/atc", "bin/atc"])
def test_atc_is_found_in_every_place(host: Host, place: str) -> None:
    host.write(f"{LATEST}/{place}", "#!/bin/bash\n", 0o755)

    assert found(host).atc == f"{LATEST}/{place}"


def test_atc_without_permission_and_a_set_env_that_is_a_folder_are_unusable(
    host: Host,
) -> None:
    host.toolkit()
    (host.root / LATEST[1:] / "compiler/bin/atc").chmod(0o644)
    script = host.root / "usr/local/Ascend/ascend-toolkit/set_env.sh"
    script.unlink()
    script.mkdir()

    toolkit = found(host)

    assert toolkit.atc is None
    assert toolkit.set_env is None
    assert toolkit.unusable == (
        f"{LATEST}/compiler/bin/atc",
        "/usr/local/Ascend/ascend-toolkit/set_env.sh",
    )


@pytest.mark.parametrize("gone", range(3))
def test_any_of_the_version_files_tells_the_version(host: Host, gone: int) -> None:
    host.toolkit()
    files = (
        f"{LATEST}/x86_64-linux/ascend_toolkit_install.info",
        f"{LATEST}/compiler/version.info",
        f"{LATEST}/version.cfg",
    )
    for file in files[:gone]:
        (host.root / file[1:]).unlink()

    assert found(host).version == "8.1.RC1"


def test_without_version_files_the_version_is_unknown(host: Host) -> None:
    host.write(f"{LATEST}/compiler/bin/atc", "", 0o755)

    assert found(host).version is None
    assert found(host).packages == {}
    assert found(host).arch is None


def test_a_toolkit_for_both_machines_is_for_this_one(host: Host) -> None:
    host.toolkit(arch="aarch64")
    assert found(host).arch == "aarch64"

    host.write(f"{LATEST}/x86_64-linux/ascend_toolkit_install.info", "version=8.1.RC1\n")
    assert found(host).arch == "x86_64"

    host.settings["arch"] = "aarch64"
    assert found(host).arch == "aarch64"


def test_kernels_are_the_folders_of_chips(host: Host) -> None:
    host.toolkit()
    host.write(f"{KERNELS}/ascend910b/x.json")
    host.write(f"{KERNELS}/README")

    assert found(host).kernels == ("ascend310p", "ascend910b")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.binary(max_size=200), st.sampled_from(["", "version=", "version_dir="]))
def test_any_bytes_in_version_files_are_a_version_or_none(
    tmp_path: Path, data: bytes, key: str
) -> None:
    host = Host(tmp_path)
    host.toolkit()
    for name in ("version.cfg", "compiler/version.info", "opp/scene.info"):
        host.write(f"{LATEST}/{name}", key.encode() + data)
    host.write(f"{LATEST}/x86_64-linux/ascend_toolkit_install.info", key.encode() + data)

    toolkit = found(host)

    assert toolkit.version is None or toolkit.version.isprintable()
