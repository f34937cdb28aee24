from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.hosts import Host


def test_all_is_looked_at(whole: Host) -> None:
    facts = whole.facts()

    assert facts.toolkit is not None
    assert facts.interpreter.python == "3.10.12"
    assert facts.driver.devices == 1


def test_things_must_fit_the_cann_that_is_installed_else_the_one_asked_for(
    host: Host,
) -> None:
    assert host.facts().cann is None
    assert host.facts(cann="8.5").cann == "8.5"

    host.toolkit()
    assert host.facts(cann="8.5").cann == "8.1.RC1"
