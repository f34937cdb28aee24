"""A command ends without a search for garbage, where nobody calls leaked what is left."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import onnx
import pytest

from tests.models import resize_chain

if TYPE_CHECKING:
    from pathlib import Path

TELLING = """
import atexit, gc, sys
frozen = gc.get_freeze_count()  # some are from the start, by 3.12
atexit.register(lambda: sys.stderr.write(f"{gc.get_freeze_count() > frozen}\\n"))
from ascendflow.cli import main
sys.exit(main())
"""


def ended(*arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", before + TELLING, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.parametrize(("before", "is_frozen"), [("", True), ("import numpy", False)])
def test_a_command_ends_at_once(before: str, is_frozen: bool) -> None:
    assert ended("schema", before=before).stderr == f"{is_frozen}\n"


def test_native_packages_end_in_silence(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    onnx.save(resize_chain("nearest"), file)
    target = ("--cann", "8.1", "--soc", "Ascend310P3")

    assert ended("lint", str(file), *target, "--simplify").stderr == "False\n"
