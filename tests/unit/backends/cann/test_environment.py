from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.backends.cann.environment import environment, with_own_home
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from pathlib import Path

EXPORTED = {
    "PATH": "/cann/bin:/cann/tools/bin",
    "PYTHONPATH": "/cann/python/site-packages",
    "LD_LIBRARY_PATH": "/cann/lib64",
    "ASCEND_OPP_PATH": "/cann/opp",
}
AROUND = {
    "HOME": "/home/me",
    "PATH": "/ours/.venv/bin:/usr/bin",
    "PYTHONPATH": "/ours",
    "PYTHONHOME": "/ours/python",
    "VIRTUAL_ENV": "/ours/.venv",
    "LD_LIBRARY_PATH": "/ours/lib",
    "TE_PARALLEL_COMPILER": "8",
    "DUMP_GE_GRAPH": "2",
    "SOMETHING": "else",
}


def built(**changed: Any) -> dict[str, str]:
    given = {
        "python": "/usr/local/py/bin/python3",
        "toolkit": "/cann",
        "arch": "x86_64",
        "has_driver": False,
        "work": "/run",
        "around": AROUND,
    }
    return environment(changed.pop("exported", EXPORTED), **{**given, **changed})


def test_nothing_of_ours_is_in_it() -> None:
    made = built()

    assert not any("/ours" in value for value in made.values())
    assert not {"PYTHONHOME", "VIRTUAL_ENV", "SOMETHING"} & made.keys()


def test_paths_begin_with_the_chosen_python_and_the_toolkit() -> None:
    made = built()

    assert made["PATH"] == (
        "/usr/local/py/bin:/cann/bin:/cann/tools/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    )
    assert made["PYTHONPATH"] == "/cann/python/site-packages"
    assert made["ASCEND_OPP_PATH"] == "/cann/opp"
    assert made["HOME"] == "/home/me"


def test_host_without_a_driver_gets_the_stand_in_libraries() -> None:
    assert built()["LD_LIBRARY_PATH"] == "/cann/lib64:/cann/x86_64-linux/devlib"
    assert built(has_driver=True)["LD_LIBRARY_PATH"] == "/cann/lib64"


def test_caches_and_logs_lie_in_a_folder_of_the_run() -> None:
    made = built()

    assert made["ASCEND_CACHE_PATH"] == "/run/cache"
    assert made["ASCEND_WORK_PATH"] == "/run/work"
    assert made["ASCEND_PROCESS_LOG_PATH"] == "/run/log"
    strayed = built(around={"ASCEND_CACHE_PATH": "/mine", "ASCEND_WORK_PATH": "/mine"})
    assert strayed["ASCEND_CACHE_PATH"] == "/run/cache"


def test_home_is_the_runs_own_and_user_packages_stay() -> None:
    made = with_own_home(built(), "/run")

    assert (made["HOME"], made["PYTHONUSERBASE"]) == ("/run/home", "/home/me/.local")
    assert with_own_home(built(around={}), "/run")["HOME"] == "/run/home"
    assert "PYTHONUSERBASE" not in with_own_home(built(around={}), "/run")


def test_manifest_may_set_what_atc_documents() -> None:
    assert built()["TE_PARALLEL_COMPILER"] == "8"
    assert built()["DUMP_GE_GRAPH"] == "2"
    assert built(around={})["TE_PARALLEL_COMPILER"] == "1"


def test_folder_that_comes_twice_keeps_its_first_place() -> None:
    made = built(exported={**EXPORTED, "PATH": "/usr/bin:/cann/bin"})

    assert made["PATH"].split(":")[:3] == ["/usr/local/py/bin", "/usr/bin", "/cann/bin"]
    assert made["PATH"].count("/usr/bin:") == 1


@pytest.mark.parametrize("name", ["PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX"])
def test_set_env_that_would_change_python_is_refused(name: str) -> None:
    with pytest.raises(StageError, match=f"sets {name}"):
        built(exported={**EXPORTED, name: "/other"})


def test_python_that_it_finds_has_no_ascendflow(tmp_path: Path) -> None:
    base = os.path.realpath(sys.executable)
    (tmp_path / "python3").write_text(f'#!/bin/sh\nexec {base} -S "$@"\n')
    (tmp_path / "python3").chmod(0o755)
    made = built(python=f"{tmp_path}/python3", around={**os.environ, "HOME": str(tmp_path)})
    code = "import sys; print(sys.prefix); import ascendflow"

    done = subprocess.run(
        ["python3", "-c", code], cwd=tmp_path, env=made, capture_output=True, check=False
    )

    assert done.returncode == 1
    assert b"No module named 'ascendflow'" in done.stderr
