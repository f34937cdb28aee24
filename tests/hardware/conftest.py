"""Tests of this folder run real tools, on who names them in the environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ascendflow.backends.cann.toolkit import find_toolkit
from ascendflow.errors import StageError
from tests.installed_cann import DEVICE_PYTHON, PYTHON, SOC, TOOLKIT, Installed


@pytest.fixture(scope="session")
def _named(request: pytest.FixtureRequest) -> None:
    """Skip where no CANN is named, and stop where the variable names none."""
    for variable in (TOOLKIT, SOC):
        if not os.environ.get(variable):
            pytest.skip(f"runs the real ATC: {variable} is not set (docs/hardware.md)")
    if (reason := _why_none(Path(os.environ[TOOLKIT]))) is not None:
        request.session.shouldstop = reason
        pytest.fail(reason, pytrace=False)


def _why_none(root: Path) -> str | None:
    try:
        find_toolkit(root, os.uname().machine, TOOLKIT)
    except StageError as error:
        found = str(error).splitlines()[0].removeprefix(f"{TOOLKIT}: ")
        return f"{TOOLKIT} names no CANN: {found}"
    return None


@pytest.fixture
def cann(_named: None, tmp_path: Path) -> Installed:
    """Return the installed CANN, or skip."""
    device_python = os.environ.get(DEVICE_PYTHON)
    return Installed(
        root=Path(os.environ[TOOLKIT]),
        python=Path(os.environ.get(PYTHON, "/usr/bin/python3")),
        soc=os.environ[SOC],
        device_python=Path(device_python) if device_python else None,
        folder=tmp_path,
    )


@pytest.fixture
def device(cann: Installed) -> Installed:
    """Return the installed CANN with a device, or skip."""
    if cann.device_python is None:
        reason = f"runs on a device: {DEVICE_PYTHON} is not set (docs/hardware.md)"
        pytest.skip(reason)
    return cann
