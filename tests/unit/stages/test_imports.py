"""Whoever plans asks stages and backends what they are; that must be cheap."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ascendflow.backends import BACKENDS
from ascendflow.stages import STAGES

HEAVY = ("numpy", "onnx", "onnx_ir", "onnxruntime", "pydantic", "torch", "jinja2", "rich")


@pytest.mark.parametrize(
    "module",
    [
        *(location.partition(":")[0] for _, location in (*STAGES, *BACKENDS)),
    ],
)
def test_importing_a_declaration_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*(set(sys.modules) & set({HEAVY!r})))"

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == []


def test_refusing_a_target_needs_nothing_heavy() -> None:
    config = {"cann": "8.1", "soc_version": "Ascend310P3", "precision_mode": "force_fp16"}
    code = (
        "import sys; from ascendflow.backends.emulator.backend import Emulator\n"
        f"assert Emulator().refuse({config!r}) is None\n"
        f"print(*(set(sys.modules) & set({HEAVY!r})))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == []
