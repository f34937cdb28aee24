from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from ascendflow.doctor import installation
from tests.findings import told
from tests.hosts import KERNELS, LATEST

if TYPE_CHECKING:
    from tests.hosts import Host


def check(host: Host, **asked: str) -> list[str]:
    return told(installation.check(host.facts(**asked)))


def test_a_whole_toolkit_has_no_findings(whole: Host) -> None:
    assert check(whole) == []
    for cann in ("8.1", "8.1.RC1", "8.1.rc1"):
        assert check(whole, cann=cann) == []


def test_without_cann_variable_script_and_option_are_named(host: Host) -> None:
    """Case EV09: atc is not found, since the environment was not sourced."""
    (found,) = installation.check(host.facts())

    assert found["severity"] == "error"
    assert found["message"].startswith(
        "no CANN is found; looked in /users/ann/Ascend/cann, "
    )
    assert "neither ASCEND_TOOLKIT_HOME nor ASCEND_HOME_PATH is set" in found["message"]
    assert "set_env.sh need not be sourced" in found["advice"]
    assert "--toolkit DIR" in found["advice"]


def test_a_version_that_is_no_release_is_a_warning_where_no_cann_is(host: Host) -> None:
    unknown, _ = check(host, cann="8.9")

    assert unknown.startswith("warning: cann '8.9' is not modelled: it is no release that")


def test_atc_that_is_not_on_path_is_a_note_with_the_script(whole: Host) -> None:
    """Case EV09, PATH empty: ascendflow needs no sourcing, a hand at the keyboard does."""
    whole.environment["PATH"] = ""

    (found,) = installation.check(whole.facts())

    assert found["severity"] == "note"
    assert found["message"].startswith("atc is not on PATH")
    assert "source /usr/local/Ascend/ascend-toolkit/set_env.sh" in found["advice"]


def test_a_named_folder_that_holds_no_cann_is_an_error(whole: Host) -> None:
    assert check(whole, toolkit="/gone") == [
        "error: --toolkit is /gone, which holds no CANN"
    ]


def test_a_variable_that_leads_nowhere_is_a_warning_beside_a_toolkit(whole: Host) -> None:
    whole.environment["ASCEND_HOME_PATH"] = "/gone"
    told_of_it = "ASCEND_HOME_PATH is /gone, which holds no CANN"
    assert check(whole) == [f"warning: {told_of_it}"]

    shutil.rmtree(whole.root / "usr/local/Ascend/ascend-toolkit")
    assert check(whole) == [f"error: {told_of_it}"]


def test_no_atc_is_an_error_with_the_places(whole: Host) -> None:
    (whole.root / LATEST[1:] / "compiler/bin/atc").unlink()

    assert check(whole) == [
        f"error: {LATEST} holds no atc; looked for compiler/bin/atc, atc/bin/atc, bin/atc"
    ]


def test_atc_that_may_not_be_run_is_an_error(whole: Host) -> None:
    (whole.root / LATEST[1:] / "compiler/bin/atc").chmod(0o644)

    assert check(whole) == [f"error: {LATEST}/compiler/bin/atc cannot be run by this user"]


def test_no_set_env_is_an_error(whole: Host) -> None:
    script = whole.root / "usr/local/Ascend/ascend-toolkit/set_env.sh"
    script.unlink()
    why = "atc's environment is unknown"
    assert check(whole) == [f"error: {LATEST}: there is no set_env.sh: {why}"]

    script.mkdir()
    path = "/usr/local/Ascend/ascend-toolkit/set_env.sh"
    assert check(whole) == [f"error: {LATEST}: {path} cannot be read: {why}"]


def test_a_toolkit_for_another_machine_is_an_error(host: Host) -> None:
    host.toolkit(arch="aarch64")

    assert f"error: {LATEST} is for aarch64, this machine is x86_64" in check(host)


def test_an_unknown_version_is_an_error(whole: Host) -> None:
    whole.toolkit("unreadable")

    assert check(whole) == [f"error: {LATEST}: no file says which version of CANN it is"]


def test_packages_of_several_versions_are_a_warning(whole: Host) -> None:
    """Case EV03: what was built with one version and runs with another."""
    whole.write(f"{LATEST}/opp/version.info", "version_dir=8.0.0\n")

    (found,) = check(whole)

    assert found.startswith(f"warning: {LATEST} is CANN 8.1.RC1 made of several: ")
    assert "opp 8.0.0" in found


@pytest.mark.parametrize("cann", ["8.5", "8.1.RC2"])
def test_another_version_than_asked_for_is_an_error(whole: Host, cann: str) -> None:
    """Case EV03: the manifest's CANN and the installed one."""
    assert check(whole, cann=cann) == [
        f"error: CANN {cann} is asked for, {LATEST} is 8.1.RC1"
    ]


def test_a_version_that_the_emulator_does_not_know_is_a_note(whole: Host) -> None:
    whole.toolkit("12.0.0")

    assert check(whole) == [
        "note: cann '12.0.0' is not modelled: the emulator knows 5.0 to 9.1"
    ]


@pytest.mark.parametrize(("version", "number"), [("8.1.RC1", 0), ("8.5.0", 1)])
def test_from_85_on_kernels_are_a_package_of_their_own(
    whole: Host, version: str, number: int
) -> None:
    whole.toolkit(version)
    shutil.rmtree(whole.root / KERNELS[1:])

    assert len(check(whole)) == number
    assert all(found.startswith("warning: ") for found in check(whole))


def test_a_soc_that_this_atc_does_not_take_is_an_error_with_the_nearest(
    whole: Host,
) -> None:
    assert check(whole, soc="Ascend310P3") == []

    (found,) = installation.check(whole.facts(soc="Ascend310P4"))

    assert found["severity"] == "error"
    assert found["message"].startswith("soc_version Ascend310P4 is asked for; CANN ")
    assert found["advice"] == "did you mean 'Ascend310P3'?"


def test_without_a_list_of_socs_none_is_refused(whole: Host) -> None:
    shutil.rmtree(whole.root / LATEST[1:] / "x86_64-linux/data")

    assert check(whole, soc="Ascend310P4") == []


def test_another_system_than_linux_is_an_error(host: Host) -> None:
    host.settings["system"] = "darwin"

    assert check(host)[0] == "error: CANN is for Linux, this is darwin"


def test_custom_operators_that_are_gone_are_a_warning(whole: Host) -> None:
    """Case GR16: no package makes a pipeline take operators that ONNX does not know."""
    whole.write("/data/ops/a/b")
    whole.environment["ASCEND_CUSTOM_OPP_PATH"] = "/data/ops:/gone:relative"

    gone, relative, unseen = check(whole)

    assert gone.startswith(
        "warning: ASCEND_CUSTOM_OPP_PATH names /gone, which is no folder"
    )
    assert relative.startswith("warning: ASCEND_CUSTOM_OPP_PATH names relative, ")
    assert unseen.startswith("note: ASCEND_CUSTOM_OPP_PATH is set in this shell")
    advice = [each["advice"] for each in installation.check(whole.facts())]
    assert advice[0] == "correct the variable, or unset it"
    assert "a model with operators of its own is taken by no pipeline" in advice[2]
