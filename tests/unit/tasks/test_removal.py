from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow.tasks import removal
from ascendflow.tasks.removal import RemoveFolder

if TYPE_CHECKING:
    from ascendflow.tasks.session import Session
    from tests.workshops import Workshop


@pytest.fixture(autouse=True)
def _session(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal, "SESSION", session)


def test_stage_or_whole_run_is_removed(workshop: Workshop) -> None:
    workshop.bring_up("rewrite")

    RemoveFolder("toy", "rewrite").execute()
    assert not workshop.path("rewrite").exists()
    RemoveFolder("toy").execute()
    RemoveFolder("toy").execute()
    assert not workshop.path("").exists()


def test_folder_that_is_a_link_is_removed_and_not_what_it_leads_to(
    workshop: Workshop,
) -> None:
    elsewhere = workshop.repository / "elsewhere"
    elsewhere.mkdir()
    workshop.path("").parent.mkdir()
    workshop.path("").symlink_to(elsewhere)

    RemoveFolder("toy").execute()

    assert elsewhere.is_dir()
    assert not workshop.path("").is_symlink()


def test_folder_that_stays_is_an_error(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: str) -> None:
        raise PermissionError

    workshop.bring_up("rewrite")
    monkeypatch.setattr(removal, "remove", refuse)

    with pytest.raises(PermissionError):
        RemoveFolder("toy").execute()
