"""What checks found, in a form that tests compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ascendflow.documents.doctor import DoctorFinding


def told(findings: Iterable[DoctorFinding]) -> list[str]:
    """Return "severity: message" of each, having seen that each says what to do."""
    findings = list(findings)
    assert all(each["advice"] and "\n" not in each["advice"] for each in findings)
    return [f"{each['severity']}: {each['message']}" for each in findings]
