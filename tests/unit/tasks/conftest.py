from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow.tasks import action, reporter, uptodate, verdict
from ascendflow.tasks.session import Session
from tests.workshops import Workshop

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    """Return a session that this process has for the time of the test."""
    session = Session()
    for module in (action, reporter, uptodate, verdict):
        monkeypatch.setattr(module, "SESSION", session)
    return session


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, session: Session) -> Workshop:
    """Return a workshop in the session's repository."""
    workshop = Workshop(tmp_path / "repository").use(monkeypatch)
    monkeypatch.chdir(workshop.repository)
    workshop.project = session.project
    return workshop
