"""What goes to a foreign interpreter: whole, small, of an old syntax, and none of ours."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import zipfile
from pathlib import Path

from ascendflow.backends.cann import worker
from ascendflow.backends.cann.worker_file import MODULES, WORKER, write_worker

FOLDER = Path(str(worker.__file__)).parent


def test_every_module_of_the_worker_goes_and_nothing_else(tmp_path: Path) -> None:
    assert sorted(Path(str(each.__file__)) for each in MODULES) == sorted(
        FOLDER.rglob("*.py")
    )
    with zipfile.ZipFile(write_worker(tmp_path)) as archive:
        sent = {name: archive.read(name) for name in archive.namelist()}
    del sent["__main__.py"]
    assert sent == {
        f"worker/{path.name}": path.read_bytes() for path in FOLDER.glob("*.py")
    }


def test_worker_is_plain_python_of_3_7_and_imports_nothing_of_ours(tmp_path: Path) -> None:
    names = set()
    with zipfile.ZipFile(write_worker(tmp_path)) as archive:
        for name in archive.namelist():
            for each in ast.walk(ast.parse(archive.read(name), feature_version=(3, 7))):
                if isinstance(each, ast.Import):
                    names |= {alias.name.split(".")[0] for alias in each.names}
                elif isinstance(each, ast.ImportFrom) and not each.level:
                    names.add(str(each.module).split(".")[0])
    assert names - sys.stdlib_module_names == {"numpy", "ais_bench", "acl", "worker"}


def test_worker_is_the_same_bytes_each_time(tmp_path: Path) -> None:
    """So that what has arrived on a board once is not sent again."""
    (tmp_path / "again").mkdir()
    first, second = write_worker(tmp_path), write_worker(tmp_path / "again")
    assert first.read_bytes() == second.read_bytes()


def test_worker_runs_with_the_standard_library_alone(tmp_path: Path) -> None:
    """Neither numpy nor a module that lies beside it is needed to look at a machine."""
    write_worker(tmp_path)
    (tmp_path / "json.py").write_text("raise SystemExit('a stranger')")
    (tmp_path / "look.json").write_text('{"files": [], "drivers": [], "kept": []}')
    argv = [sys.executable, "-I", "-S", WORKER, str(tmp_path), "look"]
    subprocess.run(argv, check=True, cwd=tmp_path)
    assert json.loads((tmp_path / "seen.json").read_text())["folder"] == str(tmp_path)
