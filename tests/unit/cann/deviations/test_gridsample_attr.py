"""GridSample without its attributes: not modelled, until they are written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.errors import NotModelledError
from tests.emulation import IEEE, Linted, convert, cured, emulate, linted
from tests.models import F32, model, node, run

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

REGISTERED = {"cann": "8.5"}
FP32 = {
    **REGISTERED,
    "soc_version": IEEE,
    "precision_mode": "must_keep_origin_dtype",
}
FULL = {"mode": "nearest", "padding_mode": "border"}


def gridsample(**attributes: Any) -> onnx.ModelProto:
    return model(
        [node("GridSample", ["x", "grid"], ["y"], name="sample", **attributes)],
        [("x", [1, 2, 4, 5]), ("grid", [1, 3, 3, 2])],
        [("y", [1, 2, 3, 3])],
        opset=16,
    )


def feeds() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "x": rng.standard_normal((1, 2, 4, 5)).astype(F32),
        "grid": rng.uniform(-1.2, 1.2, (1, 3, 3, 2)).astype(F32),
    }


@pytest.mark.parametrize("present", [{}, {"mode": "nearest"}, {"padding_mode": "border"}])
def test_absent_attributes_are_not_modelled_until_they_are_written(
    tmp_path: Path, present: dict[str, str]
) -> None:
    proto = gridsample(**present)

    assert linted(proto, **REGISTERED) == [Linted("sample", "gridsample-attr", "unknown")]
    with pytest.raises(NotModelledError, match=r"'sample'.*empty strings"):
        convert(proto, tmp_path, **REGISTERED)
    edited = cured(proto, "gridsample-attributes")
    assert linted(edited, **REGISTERED) == []
    np.testing.assert_array_equal(
        emulate(edited, feeds(), **FP32)["y"], run(proto, feeds())["y"]
    )


def test_lint_is_silent_where_they_are_there() -> None:
    assert linted(gridsample(**FULL), **REGISTERED) == []
    assert linted(gridsample(**FULL, align_corners=1), cann="9.1") == []
