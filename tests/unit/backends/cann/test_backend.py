from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ascendflow.backends.cann.backend import Cann
from ascendflow.errors import StageError
from ascendflow.manifest.validate import validate
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
        "convert.input_shape.x[1] is a range, which Ascend310B1 does not take"
    )
    mixed = good | {"modify_mixlist": {"white": ["Exp"]}}
    assert "is for mixed precision" in str(Cann().refuse(mixed))
    with pytest.raises(StageError, match="is for mixed precision"):
        Cann().compile(tmp_path, tmp_path, mixed)


def test_dumping_is_refused_and_says_what_can_be_done(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="cannot be dumped yet"):
        Cann().dump(tmp_path, {}, threads=1)
