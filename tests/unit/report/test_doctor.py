from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow.doctor.examine import examine
from ascendflow.doctor.facts import Asked
from ascendflow.report.doctor import doctor_lines
from tests.hosts import LATEST, LISTING, NPU_SMI, WHOLE, Host

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def host(tmp_path: Path) -> Host:
    host = Host(tmp_path)
    host.python()
    return host


def lines(host: Host, **asked: str) -> list[str]:
    return list(doctor_lines(examine(host.machine(), Asked(**asked))))


def test_without_cann_it_says_that_the_emulator_works_and_what_atc_would_need(
    host: Host,
) -> None:
    told = lines(host)

    assert told[0].startswith("The emulator works here: it needs neither CANN nor an NPU.")
    at = told.index("A conversion with atc (backend cann) would need:")
    assert told[at + 1].startswith("  missing: no CANN is found; ")
    assert told[at + 2].startswith("    do: install CANN's toolkit ")
    assert "CANN        not found" in told
    fits = told.index(
        "fits        CANN 8.1: opset 8 to 18, Python 3.7 to 3.11, numpy >=1.19.2,<1.25"
    )
    assert told[fits + 1] == (
        "            --cann VERSION tells of 5.0, 6.0, 6.2, 7.0, 8.0, 8.5, 9.0, 9.1"
    )
    assert sum(": opset " in line for line in told) == 1
    assert not any(line.startswith("error") for line in told)


def test_with_cann_it_says_what_is_there(host: Host) -> None:
    host.toolkit()
    host.device()
    told = lines(host)

    for line in (
        f"CANN        8.1.RC1 in {LATEST} (usual folder)",
        f"            atc {LATEST}/compiler/bin/atc",
        "            set_env.sh /usr/local/Ascend/ascend-toolkit/set_env.sh",
        "            kernels for ascend310p",
        "driver      24.1.1 in /usr/local/Ascend/driver",
        "npu-smi     24.1.1: /usr/local/bin/npu-smi",
        "            NPU 0: Ascend310P3, health OK",
        "fits        CANN 8.1.RC1: opset 8 to 18, Python 3.7 to 3.11, numpy >=1.19.2,<1.25",
    ):
        assert line in told
    tools = "ais_bench absent, aclruntime absent, mindstudio-probe absent"
    assert f"            numpy 1.24.4, {tools}" in told
    assert told[0] == f"backend cann (a toolkit is installed in {LATEST}): ready to convert"


def test_errors_are_counted_and_the_emulator_is_named_as_the_way_out(host: Host) -> None:
    host.toolkit()
    host.python("3.13.0", {**WHOLE, "numpy": "2.1.0"})
    told = lines(host)

    errors = [line for line in told if line.startswith("error: ")]
    assert len(errors) == 2
    assert told[0].endswith(": not ready, 2 errors")
    assert told[1].startswith("The emulator works here all the same")


def test_what_a_terminal_would_obey_is_spelled_out(host: Host) -> None:
    host.toolkit(root="/data/a\x1b[2Jb")
    host.device(LISTING.replace("310P3", "\x1b]0;P"))
    host.program(NPU_SMI, "\x1b[31mred\r", "failed")
    told = lines(host, toolkit="/data/a\x1b[2Jb")

    assert all(line.isprintable() for line in told)
    assert any(r"\x1b[2Jb" in line for line in told)
    assert any(r"\x1b[31mred" in line for line in told)
