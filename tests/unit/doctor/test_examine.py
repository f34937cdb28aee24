from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from ascendflow.cann.profile import profile
from ascendflow.doctor.examine import CHECKS, RELEASES, examine
from ascendflow.doctor.facts import Asked
from ascendflow.documents.doctor import SEVERITIES
from ascendflow.documents.json_file import json_text
from ascendflow.manifest import schema
from tests.hosts import GB, LATEST, OWN_PACKAGES, PYTHON, WHOLE

if TYPE_CHECKING:
    from ascendflow.documents.doctor import Doctor
    from tests.hosts import Host


def examined(host: Host, **asked: str) -> Doctor:
    """Return the document, as whoever reads the JSON gets it."""
    document: Any = json.loads(json_text(examine(host.machine(), Asked(**asked))))
    rules = json.loads(
        schema.schemas((("doctor", "ascendflow.documents.doctor:Doctor"),))[
            "doctor.schema.json"
        ]
    )
    jsonschema.Draft202012Validator(rules).validate(document)
    found: Doctor = document
    return found


def errors(doctor: Doctor) -> list[str]:
    return [f["check"] for f in doctor["findings"] if f["severity"] == "error"]


def test_without_cann_it_is_about_the_emulator_which_is_ready(host: Host) -> None:
    doctor = examined(host)

    assert (doctor["backend"], doctor["chosen_by"]) == ("emulator", "no CANN is found")
    assert doctor["ready"] == {"emulator": True, "cann": False}
    assert errors(doctor) == ["toolkit"]
    assert doctor["toolkit"] is None
    assert [fit["cann"] for fit in doctor["fits"]] == list(RELEASES)


def test_a_whole_machine_is_ready_for_both(whole: Host) -> None:
    doctor = examined(whole)

    assert doctor["backend"] == "cann"
    assert doctor["chosen_by"] == f"a toolkit is installed in {LATEST}"
    assert doctor["ready"] == {"emulator": True, "cann": True}
    assert doctor["findings"] == []
    assert doctor["toolkit"] is not None
    assert doctor["toolkit"]["version"] == "8.1.RC1"
    assert doctor["python"] is not None
    assert doctor["python"]["executable"] == PYTHON
    assert doctor["driver"]["chips"][0]["soc_version"] == "Ascend310P3"
    assert doctor["fits"] == [
        {
            "cann": "8.1.RC1",
            "opsets": list(profile("8.1").opsets),
            "python": ["3.7", "3.11"],
            "numpy": ">=1.19.2,<1.25",
        }
    ]


@pytest.mark.parametrize(
    ("asked", "environment", "backend", "chosen_by"),
    [
        ({}, {"ASCEND_TOOLKIT_HOME": "/gone"}, "cann", "ASCEND_TOOLKIT_HOME"),
        ({"toolkit": "/gone"}, {}, "cann", "--toolkit"),
        ({"python": "/gone"}, {}, "cann", "--python"),
        ({"backend": "cann"}, {}, "cann", "--backend"),
        ({"backend": "emulator", "toolkit": "/gone"}, {}, "emulator", "--backend"),
    ],
)
def test_whoever_names_something_of_cann_asks_about_cann(
    host: Host,
    asked: dict[str, str],
    environment: dict[str, str],
    backend: str,
    chosen_by: str,
) -> None:
    host.environment |= environment

    doctor = examined(host, **asked)

    assert (doctor["backend"], doctor["chosen_by"]) == (backend, chosen_by)
    assert doctor["ready"] == {"emulator": True, "cann": False}


def test_what_the_emulator_needs_cann_needs_too(whole: Host) -> None:
    whole.settings["packages"] = OWN_PACKAGES | {"onnx": None}

    assert examined(whole)["ready"] == {"emulator": False, "cann": False}


def test_case_ev01_python_313_with_cann_81_is_not_ready(whole: Host) -> None:
    whole.python("3.13.0", {**WHOLE, "numpy": "1.24.4"})

    doctor = examined(whole)

    assert doctor["ready"]["cann"] is False
    assert "FrameLocalsProxy" in doctor["findings"][0]["message"]
    assert "CANN 8.1.RC1 takes 3.7 to 3.11" in doctor["findings"][0]["advice"]


def test_case_ev02_numpy_2_with_cann_81_is_not_ready(whole: Host) -> None:
    whole.python(packages={**WHOLE, "numpy": "2.0.1"})

    doctor = examined(whole)

    assert doctor["ready"]["cann"] is False
    assert "np.float_" in doctor["findings"][0]["message"]
    assert doctor["findings"][0]["advice"] == (
        f"{PYTHON} -m pip install 'numpy>=1.19.2,<1.25'"
    )


def test_findings_come_by_severity(host: Host) -> None:
    host.settings["free_bytes"] = lambda _: 2 * GB
    host.python("3.13.0")

    severities = [found["severity"] for found in examined(host)["findings"]]

    assert severities == sorted(severities, key=SEVERITIES.index)
    assert set(severities) == set(SEVERITIES)


def test_a_toolkit_of_an_unknown_release_leaves_all_of_what_fits(whole: Host) -> None:
    whole.toolkit("12.0.0")

    assert [fit["cann"] for fit in examined(whole)["fits"]] == list(RELEASES)


def test_without_a_python_for_atc_there_is_none_in_the_document(whole: Host) -> None:
    assert examined(whole, python="/gone")["python"] is None


def test_each_check_is_there_once() -> None:
    assert len({check.__module__ for check in CHECKS}) == len(CHECKS) == 5
