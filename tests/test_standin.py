"""The stand-ins keep the contract of what they stand for, without any of ascendflow."""

from __future__ import annotations

import ast
import json
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow.om.operators import read_operators
from tests.exported_models import model, node, value
from tests.toolkits import (
    STANDIN,
    make_device,
    make_device_python,
    make_python,
    make_toolkit,
)
from tests.wheels import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

SUCCESS = "ATC run success, welcome to the next use."
FAILURE = "ATC run failed, Please check the detail log"
MODEL = "--model=m.onnx"
BASE = ("--framework=5", "--output=out", "--soc_version=Ascend310P3")


class Place:
    """A toolkit, a Python, and models of one input `x`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.toolkit = folder, make_toolkit(folder / "cann")
        self.python = make_python(folder / "py")
        self.write("m.onnx", [1, 3, 8, 8])

    def write(self, name: str, shape: list[int | str]) -> None:
        w = onnx.numpy_helper.from_array(np.ones((4, 3, 1, 1), np.float32), "w")
        nodes = [
            node("Conv", ["x", "w"], ["c"], name="/conv"),
            node("Relu", ["c"], ["y"], name="/relu"),
        ]
        proto = model(nodes, [value("x", shape)], [value("y", [None] * 4)], [w])
        onnx.save(proto, self.folder / name)

    def atc(self, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.toolkit / "bin" / "atc", *arguments],
            cwd=self.folder,
            env={"PATH": f"{self.python.parent}:/usr/bin:/bin", "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_nothing_of_ascendflow_is_imported() -> None:
    files = sorted(STANDIN.parent.rglob("*.py"))
    assert len(files) > 8
    for file in files:
        for each in ast.walk(ast.parse(file.read_text())):
            names = [each.module or ""] if isinstance(each, ast.ImportFrom) else []
            names += [n.name for n in each.names] if isinstance(each, ast.Import) else []
            tops = {name.partition(".")[0] for name in names}
            assert not tops & {"ascendflow", "tests"}, file


def test_atc_fails_where_ascendflow_can_be_imported(place: Place) -> None:
    assert place.atc(MODEL, *BASE).returncode == 0
    (place.folder / "out.om").unlink()

    run = place.atc(MODEL, *BASE, path=str(REPOSITORY))

    assert run.returncode == 255
    assert "ascendflow can be imported" in run.stdout
    assert not (place.folder / "out.om").exists()


@pytest.mark.parametrize("module", ["ais_bench.infer.interface", "acl"])
def test_device_fails_where_ascendflow_can_be_imported(place: Place, module: str) -> None:
    make_device(place.toolkit)
    assert place.atc(MODEL, *BASE).returncode == 0
    python = make_device_python(place.folder / "infer")
    code = f"import {module}; from standin_om import Om; Om('out.om')"
    site = f"{place.toolkit}/python/site-packages"
    around = {"ASCEND_OPP_PATH": "x", "ASCEND_TOOLKIT_HOME": str(place.toolkit)}

    ended = [
        subprocess.run(
            [python, "-c", code],
            cwd=place.folder,
            env={**around, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        for path in (site, f"{site}:{REPOSITORY}")
    ]

    assert ended[0].returncode == 0, ended[0].stderr
    assert ended[1].returncode == 1
    assert "ascendflow can be imported where an OM is run" in ended[1].stderr


DIMS = "--dynamic_dims=1,8;2,8"
OPENED = "--input_shape=x:-1,3,-1,8"
BATCH = "--input_shape=x:-1,3,8,8"
HW = ("--input_shape=x:1,3,-1,-1", "--input_format=NCHW")


@pytest.mark.parametrize("form", ["old", "new"])
@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("E10009", (OPENED, DIMS, "--dynamic_batch_size=1,2")),
        ("E10004", (DIMS,)),
        ("E10040", ("--input_shape=x:1~2,3,8,8", DIMS)),
        ("E10040", ("--input_shape=x:1,3,8,8", DIMS)),
        ("E10018", ("--input_shape=x:-1,-1,8,8", "--dynamic_batch_size=1,2")),
        ("E10031", ("--input_shape=x:1,3,8,8", "--dynamic_batch_size=1,2")),
        ("E10012", (BATCH + ";s:", "--dynamic_batch_size=1,2")),
        ("E10003", (BATCH, "--dynamic_batch_size=1;2")),
        ("E10019", (BATCH, "--dynamic_image_size=8,8;9,9", "--input_format=NCHW")),
        ("E10020", (*HW, "--dynamic_image_size=8;9")),
        ("E10003", (OPENED, "--dynamic_dims=1;2")),
        ("E10035", (BATCH, "--dynamic_batch_size=1")),
        ("E10036", (BATCH, f"--dynamic_batch_size={','.join(map(str, range(1, 102)))}")),
        ("E10038", (BATCH, "--dynamic_batch_size=0,1")),
        ("E10039", (BATCH, "--dynamic_batch_size=2,2")),
        ("E10002", ("--input_shape=1,3,8,8",)),
        ("E10016", ("--input_shape=z:1,3,8,8",)),
        ("E10049", ("--input_shape=x:1,3,8",)),
        ("E10056", ("--precision_mode=force_fp16", "--precision_mode_v2=fp16")),
        ("E10001", ("--modify_mixlist=m.onnx",)),
        ("E10001", ("--optypelist_for_implmode=Relu",)),
        ("E10047", ("--enable_compress_weight=true", "--compress_weight_conf=m.onnx")),
        ("E10001", ("--output_type=/relu:0:FP16",)),
        ("E10055", ("--soc_version=Ascend035",)),
        ("E10055", ("--mode=30",)),
        ("E10007", ("--framework=3",)),
        ("E10054", ("--soc_version=",)),
    ],
)
def test_each_rule_between_options_is_refused_with_its_code(
    place: Place, code: str, arguments: tuple[str, ...], form: str
) -> None:
    (place.toolkit / "format").write_text(form)

    run = place.atc(MODEL, *BASE, *arguments)

    assert run.returncode == 255
    first, dots, failed, error = run.stdout.splitlines()[:4]
    assert first == "ATC start working now, please wait for a moment."
    assert (dots, failed.startswith(FAILURE)) == ("...", True)
    assert error.startswith(f"{code}: ") if form == "old" else f"({code}): " in error
    assert SUCCESS not in run.stdout


def test_symbolic_sizes_need_a_shape(place: Place) -> None:
    place.write("open.onnx", ["n", 3, 8, 8])

    refused = place.atc("--model=open.onnx", *BASE)
    taken = place.atc("--model=open.onnx", *BASE, "--input_shape=x:1,3,8,8")

    assert (refused.returncode, "E10001: " in refused.stdout) == (255, True)
    assert (taken.returncode, SUCCESS in taken.stdout) == (0, True)


def test_unknown_flag_is_told_on_the_other_stream(place: Place) -> None:
    run = place.atc(MODEL, *BASE, "--no_such=1")

    assert run.returncode == 255
    assert "ERROR: unknown command line flag 'no_such'" in run.stderr


def test_json_of_an_om_says_what_our_reader_says(place: Place) -> None:
    assert place.atc(MODEL, *BASE).returncode == 0

    run = place.atc("--mode=1", "--om=out.om", "--json=out.json")

    assert (run.returncode, SUCCESS in run.stdout) == (0, True)
    said = json.loads((place.folder / "out.json").read_text())
    shown = place.atc("--mode=6", "--om=out.om").stdout
    key = "_datadump_original_op_names"
    ours = read_operators(place.folder / "out.om", {key})
    (graph,) = said["graph"]
    theirs = [
        (op["name"], op["type"], each["value"]["list"]["s"])
        for op in graph["op"]
        for each in op["attr"]
        if each["key"] == key
    ]
    assert theirs == [(op.name, op.type, op.attributes[key]) for op in ours]
    assert theirs[1] == ("/conv/relu", "Conv2D", ["/conv", "/relu"])
    assert "soc_version[Ascend310P3]" in shown
    assert "--soc_version=Ascend310P3" in shown
