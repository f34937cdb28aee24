from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import onnx
import pytest
from onnx import TensorProto

from ascendflow.backends.cann.signature import (
    read_signature,
    signature,
    write_signature,
)
from ascendflow.errors import StageError
from tests.exported_models import initializer_as_input, model, node, value
from tests.toolkits import config

if TYPE_CHECKING:
    from pathlib import Path


def said(tmp_path: Path, proto: onnx.ModelProto, **options: Any) -> dict[str, Any]:
    file = tmp_path / "model.onnx"
    onnx.save(proto, file)
    given = config(tmp_path, tmp_path / "python3", **options)
    write_signature(tmp_path, signature(file, given, "8.1.RC1", "7.7.0.1.238"))
    return json.loads((tmp_path / "model.json").read_text())  # type: ignore[no-any-return]


def split() -> onnx.ModelProto:
    return model(
        [node("Split", ["x"], ["a", "b"], name="cut", axis=0), node("Not", ["f"], ["g"])],
        [value("x", [2]), value("f", [1], TensorProto.BOOL)],
        [value("b", [1]), value("g", [1], TensorProto.BOOL), value("x", [2])],
    )


def test_model_is_described_by_its_own_names(tmp_path: Path) -> None:
    found = said(tmp_path, split(), input_fp16_nodes=["x"])
    assert found["inputs"] == [
        {"name": "x", "dtype": "float32", "om_dtype": "float16"},
        {"name": "f", "dtype": "bool", "om_dtype": "bool"},
    ]
    assert found["outputs"] == [
        {"name": "b", "dtype": "float32", "node": "cut", "port": 1},
        {"name": "g", "dtype": "bool", "node": "Not_g", "port": 0},
        {"name": "x", "dtype": "float32", "node": "", "port": 0},
    ]
    assert (found["soc_version"], found["cann"]) == ("Ascend310P3", "8.1.RC1")
    assert (found["shapes"], found["gears"], found["input_shape"]) == ("static", [], {})


def test_weight_that_is_listed_as_input_is_none(tmp_path: Path) -> None:
    found = said(tmp_path, initializer_as_input())
    assert [each["name"] for each in found["inputs"]] == ["x"]


def test_pictures_are_fed_as_bytes_with_the_channels_last(tmp_path: Path) -> None:
    proto = model(
        [node("Relu", ["x"], ["y"])], [value("x", [1, 3, "h", "w"])], [value("y", None)]
    )
    sizes = {"x": [1, 3, -1, -1]}
    found = said(tmp_path, proto, aipp={"x": {}}, input_shape=sizes)

    assert found["inputs"] == [{"name": "x", "dtype": "uint8", "om_dtype": "uint8"}]
    assert found["input_shape"] == {"x": [1, -1, -1, 3]}
    assert said(tmp_path, proto, input_shape=sizes)["input_shape"] == sizes


@pytest.mark.parametrize(
    ("options", "kind", "gears"),
    [
        ({"dynamic_batch_size": [1, 4]}, "dynamic_batch_size", [[1], [4]]),
        ({"dynamic_image_size": [[8, 8]]}, "dynamic_image_size", [[8, 8]]),
        ({"dynamic_dims": [[1, 2], [3, 4]]}, "dynamic_dims", [[1, 2], [3, 4]]),
        ({"dynamic_shape": True}, "dynamic_shape", []),
        ({"dynamic_shape": False}, "static", []),
    ],
)
def test_gears_are_kept_as_the_manifest_has_them(
    tmp_path: Path, options: dict[str, Any], kind: str, gears: list[list[int]]
) -> None:
    shape = {"input_shape": {"x": [-1, "1~4", 3]}}
    found = said(tmp_path, split(), **options, **shape)
    assert (found["shapes"], found["gears"]) == (kind, gears)
    assert found["input_shape"] == shape["input_shape"]


def test_om_without_its_description_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"model\.json is missing beside the OM"):
        read_signature(tmp_path)
