"""Codes are those of ATC's own checks; most mistakes are told beside those of shapes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.unit.manifest.test_atc_shapes import DIMS, ONE, TWO, problems

if TYPE_CHECKING:
    from pathlib import Path


def test_scalar_has_no_batch() -> None:
    inputs = [*ONE, {"name": "s", "shape": []}]
    convert = {
        "input_shape": {"x": [-1, 3, 48, 320], "s": []},
        "dynamic_batch_size": [1, 2],
    }

    assert [each for each in problems(convert, inputs) if "E10012" in each] == [
        "convert.input_shape.s is a scalar, which has no batch (E10012)"
    ]


CODES = {
    "one_gear": "E10035",
    "no_minus1": "E10040",
    "gear_count": "E10003",
    "tilde": "E10040",
    "rank": "E10049",
    "duplicate_gear": "E10039",
    "two_modes": "E10009",
    "noname": "E10016",
}
"""ATC's, of those that the manifest's own types do not refuse."""


def test_published_mistakes_of_gears_are_all_refused(shared: Path) -> None:
    file = shared / "cases" / "SH08" / "observed.json"
    written = json.loads(file.read_text())["given"]
    refused, told = {}, {}
    for name, (shape, gears) in written.items():
        label, _, sizes = shape.rpartition(":")
        listed = [int(s) if s.lstrip("-").isdigit() else s for s in sizes.split(",")]
        convert: dict[str, Any] = {"input_shape": {label or "": listed}}
        dims, plus, _ = gears.partition(" + ")
        if dims:
            convert["dynamic_dims"] = [
                [int(value) for value in gear.split(",")] for gear in dims.split(";")
            ]
        if plus:
            convert["dynamic_batch_size"] = [1, 2]
        told[name] = " ".join(problems(convert))
        refused[name] = bool(told[name])

    assert refused == {name: name != "ok" for name in written}
    assert {name for name, code in CODES.items() if f"({code})" not in told[name]} == set()


def test_gears_are_no_dynamic_shape() -> None:
    both = DIMS | {"dynamic_dims": [[1, 160], [1, 320]], "dynamic_shape": True}

    assert problems(both) == [
        "convert.dynamic_shape stands beside dynamic_dims, whose shapes are fixed"
    ]
    hint = DIMS | {"dynamic_dims": [[1, 160], [1, 320]], "input_hint_shape": {}}
    assert "input_hint_shape stands beside" in problems(hint)[0]


def test_gears_of_several_inputs_share_their_values() -> None:
    batches = {
        "input_shape": {"data": [-1, 3, 416, 416], "info": [-1, 4]},
        "dynamic_batch_size": [1, 8],
    }
    assert problems(batches, TWO) == []
    swapped = {"input_shape": {"info": [8, 4], "data": [8, 3, 416, 416]}}
    assert "in the order of `inputs`" in problems(swapped, TWO)[0]
