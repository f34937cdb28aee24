"""What Python would import instead is asked of Python itself."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from ascendflow.reads.modules import shadows

TAGGED = f"m{sysconfig.get_config_var('EXT_SUFFIX')}"


def imported(name: str, folders: list[str]) -> str | None:
    """Ask Python where it finds a module, which is not run."""
    code = (
        "import sys, importlib.util as u; sys.path[:0] = sys.argv[2:]; "
        "s = u.find_spec(sys.argv[1]); print(s.origin)"
    )
    asked = [sys.executable, "-I", "-c", code, name, *folders]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("m/__init__.py", "m.py"),
        ("m/__init__.pyc", "m.py"),
        (f"m/__init__{TAGGED[1:]}", "m/__init__.py"),
        ("m.so", "m.py"),
        ("m.abi3.so", "m.py"),
        (TAGGED, "m.py"),
        (TAGGED, "m.so"),
        ("m/__init__.py", "m.so"),
    ],
)
def test_what_goes_before_a_module_in_its_own_folder_is_named(
    tmp_path: Path, new: str, old: str
) -> None:
    first, second = (tmp_path / name for name in (old, new))
    first.parent.mkdir(exist_ok=True)
    first.touch()
    assert imported("m", [str(tmp_path)]) == str(first)

    named = shadows({"m": str(first)}, [str(tmp_path)])
    second.parent.mkdir(exist_ok=True)
    second.touch()

    assert imported("m", [str(tmp_path)]) == str(second)
    assert str(second) in named
    assert str(first) not in named


@pytest.mark.parametrize("new", ["m.pyc", "m/data.txt"])
def test_what_goes_behind_it_is_not(tmp_path: Path, new: str) -> None:
    (tmp_path / "m.py").touch()
    (tmp_path / new).parent.mkdir(exist_ok=True)
    (tmp_path / new).touch()

    assert imported("m", [str(tmp_path)]) == str(tmp_path / "m.py")
    assert str(tmp_path / new) not in shadows(
        {"m": str(tmp_path / "m.py")}, [str(tmp_path)]
    )


@pytest.mark.parametrize("new", ["m.py", "m/__init__.py", "m.so", "m.pyc"])
def test_all_in_an_earlier_folder_is(tmp_path: Path, new: str) -> None:
    late, early = tmp_path / "late", tmp_path / "early"
    late.mkdir()
    (late / "m.py").touch()
    named = shadows({"m": str(late / "m.py")}, [str(early), str(late)])
    (early / new).parent.mkdir(parents=True)
    (early / new).touch()

    assert imported("m", [str(early), str(late)]) == str(early / new)
    assert str(early / new) in named


def test_a_module_in_a_package_is_looked_for_there_alone(tmp_path: Path) -> None:
    folders = [str(tmp_path / "early"), str(tmp_path)]
    named = shadows({"p.m": str(tmp_path / "p" / "m.py")}, folders)

    assert str(tmp_path / "p/m/__init__.py") in named
    assert {str(Path(each).parents[0]) for each in named} <= {
        str(tmp_path / "p"),
        str(tmp_path / "p/m"),
    }
