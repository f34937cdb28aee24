"""Findings of one check, each with a line of what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ascendflow.documents.doctor import DoctorBackend, DoctorFinding, Severity


@dataclass(frozen=True)
class Findings:
    """Makes the findings of a check.

    Attributes:
        check: its name.
        backend: which backend needs what it looks at.
    """

    check: str
    backend: DoctorBackend = "cann"

    def error(self, message: str, advice: str) -> DoctorFinding:
        """Say what is missing or cannot work."""
        return self._found("error", message, advice)

    def warning(self, message: str, advice: str) -> DoctorFinding:
        """Say what may not work."""
        return self._found("warning", message, advice)

    def note(self, message: str, advice: str) -> DoctorFinding:
        """Say what is good to know."""
        return self._found("note", message, advice)

    def _found(self, severity: Severity, message: str, advice: str) -> DoctorFinding:
        return {
            "check": self.check,
            "backend": self.backend,
            "severity": severity,
            "message": message,
            "advice": advice,
        }
