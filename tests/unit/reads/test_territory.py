"""The innermost known folder around a path decides what it is."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

from ascendflow.reads.names import PACKAGE, Places
from ascendflow.reads.territory import Kind, Territory, source_of


def test_a_repository_below_the_temporary_folder_holds_inputs(tmp_path: Path) -> None:
    top = tmp_path.resolve()
    (top / "build").mkdir()
    territory = Territory(Places(top / "pan", top), own=[top / "pan" / "weights.pt"])
    kinds = {
        "pan/x": Kind.INPUT,
        "pan/build/x": Kind.INPUT,
        "build/x": Kind.IGNORED,
        ".git/HEAD": Kind.IGNORED,
        "vendored/.git/HEAD": Kind.IGNORED,
        "pan/__pycache__/x.pyc": Kind.IGNORED,
        "pan/weights.pt": Kind.IGNORED,
    }

    assert {path: territory.kind(f"{top}/{path}") for path in kinds} == kinds


def test_a_build_folder_that_is_a_link_is_no_input_where_it_leads(tmp_path: Path) -> None:
    top = tmp_path.resolve()
    (top / "repository").mkdir()
    (top / "scratch").mkdir()
    (top / "repository" / "build").symlink_to(top / "scratch")
    places = Places(top / "repository", top / "repository", {"all": top})

    assert Territory(places).kind(f"{top}/scratch/pan/x") is Kind.IGNORED


def test_what_lies_nowhere_known_is_outside(tmp_path: Path) -> None:
    territory = Territory(Places(tmp_path, tmp_path))

    assert territory.kind("/data/x.npy") is Kind.OUTSIDE


@pytest.mark.parametrize(
    "folder", [sys.prefix, sys.base_prefix, "/usr", tempfile.gettempdir()]
)
def test_the_system_python_and_temporary_files_are_no_inputs(
    tmp_path: Path, folder: str
) -> None:
    territory = Territory(Places(tmp_path.resolve(), tmp_path.resolve()))

    assert territory.kind(str(Path(folder).resolve() / "x")) is Kind.IGNORED


def test_installed_files_stand_for_their_distribution(tmp_path: Path) -> None:
    territory = Territory(Places(tmp_path, tmp_path))

    assert territory.kind(str(Path(pytest.__file__).resolve())) is Kind.INSTALLED


def test_of_ascendflow_itself_only_data_files_are_inputs() -> None:
    territory = Territory(Places(PACKAGE.parent, PACKAGE.parent))

    assert territory.kind(f"{PACKAGE}/errors.py") is Kind.IGNORED
    assert territory.kind(f"{PACKAGE}/report/templates/report.html.j2") is Kind.INPUT


def test_a_pyc_stands_for_its_source() -> None:
    assert source_of("/r/__pycache__/a.cpython-311.pyc") == "/r/a.py"
    assert source_of("/r/a.pyc") == "/r/a.pyc"
    assert source_of("/r/__pycache__/odd.pyc") == "/r/__pycache__/odd.pyc"
