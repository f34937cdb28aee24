"""The tests that need CANN, on a stand-in: they run, answer, and notice what differs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.checkouts import SOURCE
from tests.installed_cann import ANSWERS, DEVICE_PYTHON, PYTHON, SOC, TOOLKIT
from tests.toolkits import make_device, make_device_python, make_python, make_toolkit

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

VARIABLES = (TOOLKIT, SOC, PYTHON, DEVICE_PYTHON, ANSWERS)


OPTIONS = ("-n", "0", "-rA", "-p", "no:cacheprovider", "-m", "cann")


def run(**variables: str) -> subprocess.CompletedProcess[str]:
    around = {k: v for k, v in os.environ.items() if k not in VARIABLES}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, "tests/hardware"],
        cwd=SOURCE,
        env={**around, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_cann_each_is_skipped_with_a_reason() -> None:
    done = run()

    assert done.returncode == 0, done.stdout
    assert "passed" not in done.stdout
    reasons = re.findall(r"^SKIPPED \[\d+\] \S+: (.+)$", done.stdout, re.MULTILINE)
    assert set(reasons) == {f"runs the real ATC: {TOOLKIT} is not set (docs/hardware.md)"}


def test_a_folder_that_is_no_cann_ends_them_with_one_line(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    named = {TOOLKIT: f"{tmp_path}/gone", SOC: "Ascend310P3", ANSWERS: str(answers)}
    done = run(**named)

    reason = f"{TOOLKIT} names no CANN: {tmp_path}/gone holds no atc"
    assert done.returncode == 2, done.stdout
    assert re.search(rf"^{re.escape(reason)}$", done.stdout, re.MULTILINE)
    assert re.search(r"= 1 error in ", done.stdout)
    assert "raise ToolNotFoundError" not in done.stdout + done.stderr
    assert not answers.exists()


def test_on_a_device_that_computes_as_onnx_says_what_differs_fails(tmp_path: Path) -> None:
    """The stand-in's device is onnxruntime, whose answers are known."""
    toolkit = make_toolkit(tmp_path / "cann")
    make_device(toolkit)
    answers = tmp_path / "answers.jsonl"
    done = run(
        **{
            TOOLKIT: str(toolkit),
            SOC: "Ascend310P3",
            PYTHON: str(make_python(tmp_path / "py")),
            DEVICE_PYTHON: str(make_device_python(tmp_path / "infer")),
            ANSWERS: str(answers),
        }
    )
    said = [json.loads(line) for line in answers.read_text().splitlines()]
    found = {each["question"] + each.get("case", ""): each["answer"] for each in said}

    assert found["half-pixel"] == "half pixel"
    assert found["overflow"] == "computed in float32"
    assert found["subnormals"] == "kept"
    assert found["gelu-fusion"] == "erf"
    assert found["gru-resetlinear_before_reset=0"] == "before the product"
    assert found["gru-resetlinear_before_reset=1"] == "after the product"
    assert found["resize-aicpu"] == "half_pixel"
    assert found["om-bytes"] == "raw equal: True, normalised equal: True"
    failed = set(re.findall(r"^FAILED \S+::(test_\w+)", done.stdout, re.MULTILINE))
    assert failed >= {
        "test_linear_resize_of_half_pixel_samples_as_one_of_the_two",
        "test_float16_overflow_saturates_or_is_infinite",
    }
    assert "the device does 'half pixel', the emulator says 'asymmetric'" in done.stdout
    passed = set(re.findall(r"^PASSED \S+::(test_\w+)", done.stdout, re.MULTILINE))
    assert passed >= {
        "test_equal_builds_give_oms_of_one_normalised_digest",
        "test_session_tells_name_shape_and_size_of_an_input",
        "test_another_release_is_refused_before_anything_is_built",
    }
    assert str(tmp_path) not in answers.read_text()
