"""What comes back from a worker is not trusted to be whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from ascendflow.backends.cann import job
from ascendflow.errors import StageError, ToolFailedError

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.backends.cann.signature import Signature

END = {"event": "end"}
BEGUN = {"event": "begin", "sample": 2}


def said(dtype: str = "float32", om_dtype: str = "float32") -> Signature:
    return {
        "schema_version": 1,
        "soc_version": "Ascend310P3",
        "cann": "8.1.RC1",
        "opp": None,
        "shapes": "static",
        "input_shape": {},
        "gears": [],
        "inputs": [{"name": "x", "dtype": "float32", "om_dtype": om_dtype}],
        "outputs": [{"name": "y", "dtype": dtype, "node": "n", "port": 0}],
        "nodes": {"n": ["y"]},
    }


@pytest.mark.parametrize(
    ("answers", "ended", "text"),
    [
        ([], None, "infer: the worker ended"),
        ([], "was killed by SIGKILL", "infer: the worker was killed by SIGKILL"),
        ([BEGUN], "was killed by SIGSEGV", "at sample number 2: the worker was killed by"),
        ([BEGUN], None, "at sample number 2: the worker ended"),
        ([BEGUN, END], "exited with status 3", "the worker exited with status 3"),
        (
            [{"event": "failed", "text": "RuntimeError: x"}],
            "exited",
            "infer: RuntimeError: x",
        ),
    ],
)
def test_anything_but_a_good_end_fails(
    answers: list[dict[str, Any]], ended: str | None, text: str
) -> None:
    with pytest.raises(ToolFailedError, match=text):
        job.hold_to_end(answers, ended, "")


def test_good_end_passes() -> None:
    job.hold_to_end([BEGUN, END], None, "")


def test_line_that_is_cut_short_was_not_said(tmp_path: Path) -> None:
    assert job.read_answers(tmp_path) == []
    whole = json.dumps(BEGUN)
    (tmp_path / "answers.jsonl").write_text(f'{whole}\n{{"event": "en')
    assert job.read_answers(tmp_path) == [BEGUN]


def read(tmp_path: Path, array: np.ndarray, dtype: str, wanted: str) -> np.ndarray:
    np.save(tmp_path / "out-0-0.npy", array)
    answer = {"event": "sample", "outputs": [{"name": "n:0:y", "dtype": dtype}]}
    (outputs,) = job.read_outputs(tmp_path, [answer], said(wanted))
    return outputs["y"]


def test_outputs_widen_to_the_model_s_type_and_never_narrow(tmp_path: Path) -> None:
    half = np.array([0.1, -3], np.float16)
    found = read(tmp_path, half, "float16", "float32")
    assert found.dtype == np.float32
    assert found.tolist() == half.tolist()
    bits = np.array([0x3FC0], np.uint16)  # 1.5
    assert read(tmp_path, bits, "bfloat16", "float32").tolist() == [1.5]
    assert read(tmp_path, bits, "bfloat16", "bfloat16").dtype == ml_dtypes.bfloat16
    with pytest.raises(
        StageError, match="'y' is float32 in the OM and float16 in the model"
    ):
        read(tmp_path, np.zeros(2, np.float32), "float32", "float16")
    with pytest.raises(StageError, match="'y' is int64 in the OM and int32 in the model"):
        read(tmp_path, np.zeros(2, np.int64), "int64", "int32")


def test_feeds_are_cast_only_where_the_manifest_has_the_om_take_float16(
    tmp_path: Path,
) -> None:
    fed = {"x": np.array([0.1], np.float32)}
    (sample,) = job.write_feeds(tmp_path, [fed], said())
    assert sample["feeds"]["x"]["dtype"] == "float32"
    (sample,) = job.write_feeds(tmp_path, [fed], said(om_dtype="float16"))
    assert sample["feeds"]["x"]["dtype"] == "float16"
    assert np.load(tmp_path / "feed-0-0.npy").tolist() == [np.float16(0.1)]
    # Of another type than the manifest says it stays, for the worker to refuse.
    wrong = {"x": np.array([0.1], np.float64)}
    (sample,) = job.write_feeds(tmp_path, [wrong], said(om_dtype="float16"))
    assert sample["feeds"]["x"]["dtype"] == "float64"
    (sample,) = job.write_feeds(tmp_path, [{"x": np.ones(2, ml_dtypes.bfloat16)}], said())
    assert sample["feeds"]["x"]["dtype"] == "bfloat16"
    assert np.load(tmp_path / "feed-0-0.npy").tolist() == [0x3F80, 0x3F80]
