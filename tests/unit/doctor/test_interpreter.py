from __future__ import annotations

import json
import platform
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascendflow.doctor.interpreter import (
    MARK,
    ON_PATH,
    PACKAGES,
    answered,
    ask_interpreter,
)
from ascendflow.doctor.machine import Ran, this_machine
from tests.hosts import OWN, PYTHON, WHOLE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts import Host

GOOD = {"python": "3.10.12", "prefix": "/usr", "machine": "x86_64", "packages": {}}
GOOD["broken"] = ""


def test_the_first_other_python_on_path_is_asked(host: Host) -> None:
    host.python("3.12.4", path=f"{OWN}/bin/python3", prefix=OWN)

    asked = ask_interpreter(host.machine(), "")

    assert asked.problem is None
    assert (asked.executable, asked.found_by) == (PYTHON, ON_PATH)
    assert (asked.python, asked.prefix, asked.machine) == ("3.10.12", "/usr", "x86_64")
    assert asked.packages["numpy"] == WHOLE["numpy"]
    assert asked.packages["ais_bench"] is None


def test_the_python_that_is_named_is_asked(host: Host) -> None:
    host.python("3.9.7", path="/users/ann/py39/bin/python3", prefix="/users/ann/py39")

    asked = ask_interpreter(host.machine(), "../py39/bin/python3")

    assert (asked.executable, asked.found_by) == ("/users/ann/py39/bin/python3", "--python")
    assert asked.python == "3.9.7"


def test_a_path_without_another_python_is_a_problem(host: Host) -> None:
    host.environment["PATH"] = f"{OWN}/bin"
    host.python(path=f"{OWN}/bin/python3")

    asked = ask_interpreter(host.machine(), "")

    assert asked.problem == "there is no other python3 on PATH"
    assert host.ran == []


def test_a_named_python_that_is_not_there_or_no_program_is_a_problem(host: Host) -> None:
    host.write("/usr/bin/text", "text")

    for path, problem in (
        ("/usr/bin/gone", "is no file"),
        ("/usr/bin", "is no file"),
        ("/usr/bin/text", "may not be executed"),
    ):
        assert ask_interpreter(host.machine(), path).problem == problem


@pytest.mark.parametrize(
    ("ran", "problem"),
    [
        (Ran("begins\n", "did not end within 30 s"), "did not end within 30 s: begins"),
        (
            Ran("a\nImportError: x\n", "exited with status 1"),
            "exited with status 1: ImportError: x",
        ),
        (Ran("hello\n\n"), "did not answer as a Python does: hello"),
        (Ran(""), "did not answer as a Python does"),
    ],
)
def test_a_python_that_gives_no_answer_is_a_problem(
    host: Host, ran: Ran, problem: str
) -> None:
    host.answers[PYTHON] = ran

    assert ask_interpreter(host.machine(), "").problem == problem


@pytest.mark.parametrize(
    "answer",
    [
        "[]",
        "null",
        "{",
        "[" * 100_000,
        json.dumps(GOOD | {"python": 3}),
        json.dumps(GOOD | {"packages": []}),
        json.dumps({key: GOOD[key] for key in ("python", "machine", "packages")}),
    ],
)
def test_an_answer_of_another_form_is_none(answer: str) -> None:
    assert answered(Ran(f"{MARK}{answer}\n")) is None


def test_an_answer_of_who_then_failed_is_none() -> None:
    text = f"{MARK}{json.dumps(GOOD)}\n"

    assert answered(Ran(text)) is not None
    assert answered(Ran(text, "was killed by SIGSEGV")) is None


def test_a_version_that_is_no_short_text_is_cut_or_left_out() -> None:
    answer = GOOD | {"packages": {"numpy": "1" * 999, "aclruntime": 3, "other": "1"}}

    packages = (answered(Ran(f"{MARK}{json.dumps(answer)}\n")) or {})["packages"]

    assert packages.keys() == set(PACKAGES)
    assert packages["numpy"] == "1" * 64
    assert packages["aclruntime"] is None


@given(st.text() | st.recursive(st.none() | st.text(), st.lists).map(json.dumps))
def test_any_answer_is_taken_or_none(text: str) -> None:
    answered(Ran(f"{MARK}{text}\n"))


def test_a_real_python_answers_the_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is asked where none of our modules are in its way."""
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    machine = replace(this_machine({}), prefix="/none")

    asked = ask_interpreter(machine, sys.executable)

    assert asked.problem is None
    assert asked.python == platform.python_version()
    assert asked.prefix == sys.prefix
    assert asked.machine == platform.machine()
    assert asked.packages["numpy"] == np.__version__
    assert asked.packages["aclruntime"] is None


@pytest.mark.parametrize(
    ("module", "metadata", "version", "broken"),
    [
        ("__version__ = '1.26.4'", None, "1.26.4", ""),
        ("__version__ = '1.26.4'", "9.9", "1.26.4", ""),
        ("raise ImportError('no BLAS')", "1.26.4", "1.26.4", "no BLAS"),
        ("raise RuntimeError", "1.26.4", "1.26.4", "it cannot be imported"),
        (None, None, None, ""),
    ],
)
def test_numpy_is_imported_since_atc_imports_it(
    tmp_path: Path,
    module: str | None,
    metadata: str | None,
    version: str | None,
    broken: str,
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    if module is not None:
        (site / "numpy.py").write_text(module)
    if metadata is not None:
        info = site / f"numpy-{metadata}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: numpy\nVersion: {metadata}\n")
    program = tmp_path / "python3"
    base = sys.executable
    program.write_text(f'#!/bin/sh\nPYTHONPATH={site} exec {base} -S "$@"\n')
    program.chmod(0o755)

    asked = ask_interpreter(this_machine({}), str(program))

    assert asked.problem is None
    assert (asked.packages["numpy"], asked.broken) == (version, broken)
    assert not asked.ours

    (site / "ascendflow.py").write_text("raise SystemExit('imported')")
    assert ask_interpreter(this_machine({}), str(program)).ours


def test_the_question_runs_where_importlib_has_no_metadata() -> None:
    """As on Python 3.7."""
    from ascendflow.doctor.interpreter import QUESTION

    printed: list[str] = []
    scope: dict[str, Any] = {"print": printed.append}
    code = QUESTION.replace("importlib.metadata", "importlib.absent")
    argv, sys.argv = sys.argv, ["-c", MARK, "numpy", "no-such-package"]
    try:
        exec(code, scope)  # noqa: S102
    finally:
        sys.argv = argv

    packages = json.loads(printed[0].strip().removeprefix(MARK))["packages"]
    assert packages["no-such-package"] is None
