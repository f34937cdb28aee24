from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ascendflow.doctor import own
from tests.findings import told
from tests.hosts import OWN_PACKAGES

if TYPE_CHECKING:
    from tests.hosts import Host

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())[
    "project"
]


def test_what_is_required_is_what_the_project_declares() -> None:
    extra = PROJECT["optional-dependencies"]["torch"]

    assert [name + bounds for name, bounds in own.REQUIRED] == PROJECT["dependencies"]
    assert [name + bounds for name, bounds in own.FOR_PYTORCH] == extra
    first, below = (
        f"{major}.{minor}" for major, minor in (own.FIRST_PYTHON, own.BELOW_PYTHON)
    )
    assert PROJECT["requires-python"] == f">={first},<{below}"


def test_what_the_lock_installs_has_no_findings(host: Host) -> None:
    assert told(own.check(host.facts())) == []
    assert all(own.installed()[name] for name, _ in own.REQUIRED)


@pytest.mark.parametrize("python", [(3, 10, 9), (3, 14, 0)])
def test_a_python_that_is_not_supported_is_an_error(
    host: Host, python: tuple[int, ...]
) -> None:
    host.settings["python"] = python

    assert re.fullmatch(
        r"error: ascendflow runs on Python 3\.1\d\.\d, not one of 3\.11 to 3\.13",
        told(own.check(host.facts()))[0],
    )


@pytest.mark.parametrize(
    ("version", "problem"),
    [
        (None, "numpy is not installed, >=2.2,<3 is needed"),
        ("1.26.4", "numpy is 1.26.4, >=2.2,<3 is needed"),
        ("3.0.0", "numpy is 3.0.0, >=2.2,<3 is needed"),
        ("unknown", "numpy is unknown, >=2.2,<3 is needed"),
    ],
)
def test_a_package_that_is_absent_or_of_another_version_is_an_error(
    host: Host, version: str | None, problem: str
) -> None:
    host.settings["packages"] = OWN_PACKAGES | {"numpy": version}

    assert told(own.check(host.facts())) == [f"error: {problem}"]
    assert {each["backend"] for each in own.check(host.facts())} == {"emulator"}


def test_no_torch_is_a_note_and_half_of_it_a_warning(host: Host) -> None:
    host.settings["packages"] = OWN_PACKAGES | {"torch": None, "onnxscript": None}
    assert told(own.check(host.facts())) == [
        "note: torch is not installed: models can come from ONNX files alone"
    ]

    host.settings["packages"] = OWN_PACKAGES | {"onnxscript": None}
    assert told(own.check(host.facts())) == [
        "warning: onnxscript is not installed, >=0.7.2,<0.8 is needed"
    ]
