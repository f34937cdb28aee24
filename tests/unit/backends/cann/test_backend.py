from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow.backends.cann.backend import Cann
from ascendflow.errors import StageError
from ascendflow.manifest.validate import validate
from tests.exported_models import model, node, value
from tests.oms import Device
from tests.toolkits import config, make_toolkit
from tests.unit.backends.cann.test_atc import Place

if TYPE_CHECKING:
    from pathlib import Path


def test_compile_says_what_made_the_model(tmp_path: Path) -> None:
    place = Place(tmp_path)
    given = config(make_toolkit(tmp_path / "cann"), place.python)

    document = Cann().compile(place.onnx, place.model, given)

    file = tmp_path / "conversion.json"
    file.write_text(json.dumps(document))
    assert validate(file, "conversion") == []
    assert (document["backend"], document["is_real_device"]) == ("cann", True)
    assert document["cann"] == "8.1.RC1"
    assert document["toolchain"]["versions"]["opp"] == "7.7.0.1.238"
    assert "--soc_version=Ascend310P3" in document["toolchain"]["arguments"]
    assert document["om"]["opp_version"] == "7.7.0.1.238"
    assert document["om"]["atc_cmdline"].endswith(
        " ".join(document["toolchain"]["arguments"])
    )
    assert Cann().behaviours(place.model) == {"": place.model}


def test_what_the_command_line_made_of_a_good_manifest_is_judged_again(
    tmp_path: Path,
) -> None:
    good = config(
        tmp_path, tmp_path / "python3", dynamic_shape=True, input_shape={"x": [1, "2~4"]}
    )
    assert Cann().refuse(good) is None
    assert Cann().refuse(good | {"soc_version": "Ascend310B1"}) == (
        "convert.input_shape.x[1] is a range, which Ascend310B1 does not take\n"
        "  hint: use gears, e.g. dynamic_dims"
    )
    mixed = good | {"modify_mixlist": {"white": ["Exp"]}}
    assert "is for mixed precision" in str(Cann().refuse(mixed))
    with pytest.raises(StageError, match="is for mixed precision"):
        Cann().compile(tmp_path, tmp_path, mixed)


def test_nodes_are_told_with_the_operators_that_compute_them(tmp_path: Path) -> None:
    device = Device(tmp_path)
    weights = onnx.numpy_helper.from_array(np.ones((4, 3, 1, 1), np.float32), "w")
    nodes = [
        node("Conv", ["x", "w"], ["c"], name="conv"),
        node("Relu", ["c"], ["r"], name="relu"),
        node("Neg", ["r"], ["y"], name="neg"),
    ]
    shapes = [value("x", [1, 3, 2, 2])], [value("y", [1, 4, 2, 2])]
    file = tmp_path / "model.onnx"
    onnx.save(model(nodes, *shapes, [weights]), file)
    given = config(device.toolkit, device.python)
    given["inputs"] = [{"name": "x", "dtype": "float32", "shape": [1, 3, 2, 2]}]

    document = Cann().compile(file, tmp_path / "model", given)

    assert document["target_ops"] == {
        "conv": "Conv2D (conv + relu)",
        "relu": "Conv2D (conv + relu)",
        "neg": "Neg",
    }
    said = json.loads((tmp_path / "model" / "model.json").read_text())
    assert said["nodes"] == {"conv": ["c"], "relu": ["r"], "neg": ["y"]}


def test_a_device_gives_its_inner_tensors() -> None:
    assert Cann.capabilities.can_dump


def test_all_that_atc_would_refuse_is_told_at_once(tmp_path: Path) -> None:
    good = config(
        tmp_path, tmp_path / "python3", dynamic_shape=True, input_shape={"x": [1, "2~4"]}
    )
    told = Cann().refuse(
        good | {"soc_version": "Ascend310B1", "modify_mixlist": {"white": ["Exp"]}}
    )

    assert told == (
        "\nconvert.input_shape.x[1] is a range, which Ascend310B1 does not take\n"
        "  hint: use gears, e.g. dynamic_dims\n"
        "convert.modify_mixlist is for mixed precision, and the mode is 'force_fp16' "
        "(E10001)\n"
        "  hint: set precision_mode: allow_mix_precision"
    )
