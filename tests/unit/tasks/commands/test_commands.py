from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from ascendflow import vocabulary
from ascendflow.tasks.commands import COMMANDS, DATABASES

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize(("name", "location"), COMMANDS)
def test_a_command_is_reserved_and_leads_to_a_class(name: str, location: str) -> None:
    module, _, class_name = location.partition(":")

    assert name in vocabulary.COMMANDS
    assert getattr(import_module(module), class_name).get_name() == name


def test_pyproject_of_this_repository_names_the_same_plugins() -> None:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())

    assert document["tool"]["doit"]["plugins"] == {
        "backend": dict(DATABASES),
        "command": dict(COMMANDS),
    }
