from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow.doctor import python
from tests.findings import told
from tests.hosts import OWN, PYTHON, WHOLE

if TYPE_CHECKING:
    from tests.hosts import Host

TOOLS = {"ais_bench": "0.0.2", "aclruntime": "0.0.2", "mindstudio-probe": "26.2.0"}


def check(host: Host, cann: str = "8.1.RC1", **asked: str) -> list[str]:
    return told(python.check(host.facts(cann=cann, **asked)))


def test_a_whole_python_has_no_findings(whole: Host) -> None:
    assert check(whole) == []


@pytest.mark.parametrize(
    ("cann", "version", "severity"),
    [
        ("8.1.RC1", "3.7.0", None),
        ("8.1.RC1", "3.11.9", None),
        ("8.1.RC1", "3.12.1", "warning"),
        ("8.1.RC1", "3.13.0", "error"),
        ("8.1.RC1", "3.14.0", "error"),
        ("8.1.RC1", "3.6.9", "error"),
        ("8.1.RC1", "2.7.18", "error"),
        ("6.0.1", "3.10.1", "warning"),
        ("8.5.0", "3.12.1", None),
        ("8.5.0", "3.14.0", "warning"),
        ("9.1.0", "3.14.0", None),
        ("", "3.13.0", "warning"),
        ("", "3.12.0", None),
    ],
)
def test_a_python_is_held_against_the_version_of_cann(
    host: Host, cann: str, version: str, severity: str | None
) -> None:
    """Case EV01: below 3.13 there is no FrameLocalsProxy, whatever the report said."""
    host.python(version, WHOLE | TOOLS)

    found = [each for each in check(host, cann) if " is Python " in each]

    assert [each.partition(":")[0] for each in found] == ([severity] if severity else [])
    says = "FrameLocalsProxy" in "".join(found)
    assert says == (version in ("3.13.0", "3.14.0") and cann in ("8.1.RC1", ""))


@pytest.mark.parametrize(
    ("cann", "version", "numpy", "severity"),
    [
        ("8.1.RC1", "3.10.1", "1.24.4", None),
        ("8.1.RC1", "3.10.1", "1.26.4", "warning"),
        ("8.1.RC1", "3.10.1", "2.0.0", "error"),
        ("8.1.RC1", "3.10.1", "1.18.0", "warning"),
        ("8.1.RC1", "3.10.1", "strange", "warning"),
        ("6.0.1", "3.9.1", "1.26.4", None),
        ("6.0.1", "3.9.1", "2.0.0", "error"),
        ("8.5.0", "3.12.1", "2.1.0", "error"),
        ("8.5.0", "3.13.1", "2.1.0", None),
        ("8.5.0", "3.13.1", "1.26.0", "warning"),
        ("9.0.0", "3.12.1", "2.4.0", None),
        ("", "3.10.1", "2.4.0", "warning"),
        ("", "3.10.1", "1.24.4", None),
    ],
)
def test_numpy_is_held_against_the_version_of_cann(
    host: Host, cann: str, version: str, numpy: str, severity: str | None
) -> None:
    """Case EV02: numpy 2 has no np.float_, which CANN 8.1 uses."""
    host.python(version, {**WHOLE, **TOOLS, "numpy": numpy})

    found = [each for each in check(host, cann) if f" has numpy {numpy}" in each]

    assert [each.partition(":")[0] for each in found] == ([severity] if severity else [])
    if severity == "error":
        assert "np.float_" in found[0]


@pytest.mark.parametrize(
    ("cann", "spec"),
    [("8.1", "numpy>=1.19.2,<1.25"), ("9.0", "numpy>=1.19.2"), ("", "numpy>=1.19.2,<1.25")],
)
def test_no_numpy_is_an_error_with_the_command(host: Host, cann: str, spec: str) -> None:
    host.python(
        path="/users/ann/py 3/bin/python3", packages={**WHOLE, **TOOLS, "numpy": None}
    )

    (found,) = python.check(host.facts(cann=cann, python="/users/ann/py 3/bin/python3"))

    assert found["severity"] == "error"
    assert found["message"].endswith("has no numpy, which atc compiles kernels with")
    assert found["advice"] == f"'/users/ann/py 3/bin/python3' -m pip install '{spec}'"


@pytest.mark.parametrize(
    ("version", "command"),
    [
        ("3.10.1", f"{PYTHON} -m pip install 'numpy>=1.19.2,<1.25'"),
        # There is no numpy below 1.25 for it, nor a CANN before 8.5.
        ("3.12.1", "in a Python up to 3.11: python3 -m pip install 'numpy>=1.19.2,<1.25'"),
    ],
)
def test_without_a_version_numpy_2_is_cured_for_all_that_it_fails(
    host: Host, version: str, command: str
) -> None:
    host.python(version, {**WHOLE, **TOOLS, "numpy": "2.4.0"})

    (found,) = python.check(host.facts(cann=""))

    assert found["advice"] == f"for those: {command}"


@pytest.mark.parametrize(
    ("version", "spec"), [("3.12.1", ">=1.19.2,<2.0"), ("3.14.0", ">=1.19.2")]
)
def test_without_a_version_that_numpy_is_advised_which_a_python_takes(
    host: Host, version: str, spec: str
) -> None:
    host.python(version, {**WHOLE, **TOOLS, "numpy": None})

    advice = [each["advice"] for each in python.check(host.facts(cann=""))]

    assert f"{PYTHON} -m pip install 'numpy{spec}'" in advice


def test_numpy_that_cannot_be_imported_is_an_error(whole: Host) -> None:
    whole.python(packages=WHOLE | TOOLS, broken="no\nlibopenblas")

    (found,) = python.check(whole.facts())

    assert found["severity"] == "error"
    assert found["message"].endswith(
        "numpy 1.24.4, which cannot be imported: no libopenblas"
    )
    assert "--force-reinstall" in found["advice"]


def test_in_a_python_that_is_too_new_nothing_is_installed(host: Host) -> None:
    """No numpy below 1.25 could be."""
    host.python("3.13.0", {**WHOLE, **TOOLS, "numpy": "2.1.0", "sympy": None})

    advice = [each["advice"] for each in python.check(host.facts(cann="8.1"))]

    assert advice[1:] == [
        "in a Python up to 3.11: python3 -m pip install 'numpy>=1.19.2,<1.25'",
        "in a Python up to 3.11: python3 -m pip install sympy",
    ]


def test_no_other_python_is_an_error(host: Host) -> None:
    host.environment["PATH"] = f"{OWN}/bin"

    assert check(host) == ["error: python3 for atc: there is no other python3 on PATH"]
    assert check(host, python="/gone") == ["error: python3 for atc: /gone is no file"]


def test_ascendflows_own_python_is_an_error(whole: Host) -> None:
    whole.python(packages=WHOLE | TOOLS, path=f"{OWN}/bin/python3", prefix=OWN)

    assert check(whole, python=".venv/bin/python3") == [
        f"error: {OWN}/bin/python3 has ascendflow in it; atc must have a Python of its own"
    ]

    whole.python(packages=WHOLE | TOOLS, ours=True)
    assert check(whole) == [
        f"error: {PYTHON} has ascendflow in it; atc must have a Python of its own"
    ]


def test_a_python_of_another_machine_is_an_error(whole: Host) -> None:
    whole.python(packages=WHOLE | TOOLS, machine="aarch64")

    assert check(whole) == [f"error: {PYTHON} is for aarch64, not x86_64"]


def test_what_else_cann_asks_for_is_a_warning(whole: Host) -> None:
    whole.python(packages={**WHOLE, **TOOLS, "sympy": None, "decorator": None})

    (found,) = python.check(whole.facts())

    assert found["severity"] == "warning"
    assert "has no decorator, sympy, which" in found["message"]
    assert found["advice"] == f"{PYTHON} -m pip install decorator sympy"


@pytest.mark.parametrize(
    ("file", "severity"),
    [
        ("/usr/local/Ascend/driver/version.info", "warning"),
        ("/dev/davinci3", "warning"),
        ("/dev/null", "note"),
    ],
)
def test_no_ais_bench_counts_where_there_is_a_device(
    host: Host, file: str, severity: str
) -> None:
    host.python(packages={**WHOLE, **TOOLS, "aclruntime": None})
    host.write(file)

    (found,) = check(host)

    assert found == f"{severity}: {PYTHON} has no aclruntime: no OM is run with it"


def test_a_python_without_wheels_of_ais_bench_is_told(host: Host) -> None:
    host.python("3.13.1", {**WHOLE, "numpy": "2.1.0", "mindstudio-probe": "26.2.0"})

    (found,) = check(host, "8.5.0")

    assert found.endswith("; there are no wheels for Python 3.13.1")


def test_no_msprobe_is_a_note_with_its_name_on_pypi(host: Host) -> None:
    host.python(packages=WHOLE | TOOLS | {"mindstudio-probe": None})

    (found,) = python.check(host.facts(cann="8.1"))

    assert found["severity"] == "note"
    assert found["message"].endswith("which only `nodes_by: msprobe` needs")
    assert found["advice"].startswith(
        f"{PYTHON} -m pip install mindstudio-probe (never msprobe"
    )


def test_the_other_msprobe_is_a_warning(host: Host) -> None:
    host.python(packages=WHOLE | TOOLS | {"msprobe": "0.1.4"})

    (found,) = python.check(host.facts(cann="8.1"))

    assert found["severity"] == "warning"
    assert "msprobe 0.1.4 from PyPI, which scans servers" in found["message"]
    assert found["advice"].startswith(f"{PYTHON} -m pip uninstall msprobe;")
