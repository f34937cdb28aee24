from __future__ import annotations

from ascendflow.doctor.finding import Findings
from ascendflow.documents.doctor import SEVERITIES


def test_a_finding_has_the_severity_it_is_called() -> None:
    found = Findings("disk", "emulator")

    assert [
        make("m", "a")["severity"] for make in (found.error, found.warning, found.note)
    ] == (list(SEVERITIES))
    assert found.note("m", "a") == {
        "check": "disk",
        "backend": "emulator",
        "severity": "note",
        "message": "m",
        "advice": "a",
    }
