"""A checkout in which one model was built, made once; each test gets a copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.checkouts import Checkout, Run

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class FirstRun:
    """The very first run of a checkout; `checkout` is for looking only."""

    checkout: Checkout
    run: Run


@pytest.fixture(scope="session")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> FirstRun:
    checkout = Checkout(tmp_path_factory.mktemp("first") / "repository")
    return FirstRun(checkout, checkout.doit("model=toy"))


@pytest.fixture
def checkout(first_run: FirstRun, tmp_path: Path) -> Checkout:
    """Return a checkout of the test's own, in which model `toy` is up to date."""
    return first_run.checkout.copied_to(tmp_path / "repository")


@pytest.fixture(scope="session")
def fresh_template(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return Checkout(tmp_path_factory.mktemp("fresh") / "repository")


@pytest.fixture
def fresh(fresh_template: Checkout, tmp_path: Path) -> Checkout:
    """Return a checkout of the test's own, in which nothing was ever run."""
    return fresh_template.copied_to(tmp_path / "fresh")


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Return a checkout with the real stages and no model; to be copied, never built in."""
    folder = tmp_path_factory.mktemp("empty") / "repository"
    return Checkout(folder, models=(), stand_ins=False)
