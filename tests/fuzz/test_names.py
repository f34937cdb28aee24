"""Names with any character in them, from a model or a file system, to the report."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.checkouts import Checkout
from tests.exported_models import constant, model, node, value
from tests.fuzz import journey
from tests.fuzz.names import NAMES, NOT_UTF8

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

EVERY = [name for name in dict.fromkeys(NAMES) if name and name != NOT_UTF8]
ODD = "odd\x1b]0;owned\x07\x1b[31m\u202e"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]")


def chain() -> onnx.ModelProto:
    """A chain of nodes, each named, and each with an output named, by one odd name."""
    nodes, previous = [], "image"
    for name in EVERY:
        nodes.append(node("Mul", [previous, "half"], [f"t{name}"], name=f"n{name}"))
        previous = f"t{name}"
    nodes += [node("Add", [previous, "half"], [name], name=name) for name in EVERY]
    outputs = [value(name, [3]) for name in EVERY]
    return model(nodes, [value("image", [3])], outputs, [constant("half", 1.5)])


class Page(HTMLParser):
    """Collects a page's tags and text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags |= {tag, *(f"{tag}@{name}" for name, _ in attrs)}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.slow
def test_names_of_a_model_reach_the_report_and_no_file_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    file = tmp_path / "model.onnx"
    file.write_bytes(chain().SerializeToString())
    stages = (*journey.STAGE_NAMES, "report")
    verdict = journey.travel(file, tmp_path / "repository", stages=stages)

    assert verdict == journey.Verdict("passed")
    build = tmp_path / "repository" / "build"
    assert all(re.fullmatch(r"[\w.-]+", p.name, re.ASCII) for p in build.rglob("*"))
    golden = json.loads((build / "net/golden/golden.json").read_text())
    assert golden["outputs"].keys() == set(EVERY)
    page = Page()
    content = (build / "net/report/report.html").read_text(encoding="utf-8")
    page.feed(content)
    assert not page.tags & {"script", "img", "iframe", "a@onclick"}
    assert "<script>alert(1)</script>" in page.text
    assert r"\x1b[31mred\x1b[0m" in page.text
    assert CONTROL.search(content) is None
    assert "49" not in {cell.strip() for cell in page.text.split("\n")}  # {{ 7 * 7 }}


@pytest.mark.parametrize("name", [b"\xff\xfe", b"a\nb", b"-rf", b"\x1b[31m", b"a=b;c"])
def test_file_of_any_name_is_taken_in_under_a_plain_one(
    name: bytes, tmp_path: Path
) -> None:
    (tmp_path / "repository").mkdir()
    file = tmp_path / os.fsdecode(name + b".onnx")
    proto = model([node("Relu", ["x"], ["y"])], [value("x", [3])], [value("y", [3])])
    file.write_bytes(proto.SerializeToString())
    verdict = journey.travel(file, tmp_path / "repository", stages=("samples", "export"))

    assert verdict == journey.Verdict("passed")
    made = (tmp_path / "repository" / "pipelines" / "net").iterdir()
    assert sorted(path.name for path in made) == ["manifest.yaml", "net.onnx"]


def test_sample_file_of_any_name_is_a_sample(tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    file = tmp_path / "model.onnx"
    proto = model([node("Relu", ["x"], ["y"])], [value("x", [3])], [value("y", [3])])
    file.write_bytes(proto.SerializeToString())
    journey.travel(file, tmp_path / "repository", stages=())
    pipeline = tmp_path / "repository" / "pipelines" / "net"
    (pipeline / "inputs").mkdir()
    for number, odd in enumerate((b"\xff", b"a\nb", b"-n", b"\x1b[31m", b"<b>", b"=;:,")):
        with open(
            os.path.join(os.fsencode(pipeline), b"inputs", odd + b".npz"), "wb"
        ) as out:
            np.savez(out, x=np.full(3, number, np.float32))
    manifest = pipeline / "manifest.yaml"
    text = re.sub(
        r"(?m)^samples: .*$", 'samples: {files: "inputs/*.npz"}', manifest.read_text()
    )
    manifest.write_text(text)
    stages = (*journey.STAGE_NAMES, "report")
    verdict = journey.again(tmp_path / "repository", stages=stages)

    assert verdict == journey.Verdict("passed")
    page = (tmp_path / "repository/build/net/report/report.html").read_text()
    assert "<b>" not in page.replace("<b></b>", "")
    assert CONTROL.search(page) is None


def test_terminal_obeys_nothing_that_init_quotes(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "checkout")
    odd = helper.make_tensor_value_info("x", TensorProto.FLOAT, [ODD])
    proto = model([node("Relu", ["x"], ["y"])], [odd], [value("y", [3])])
    file = tmp_path / "model.onnx"
    file.write_bytes(proto.SerializeToString())
    run = checkout.doit("init", "net", "--onnx", str(file))

    assert run.code == 3
    assert r"dynamic dimensions: x [odd\x1b]0;owned\x07\x1b[31m\u202e]" in run.text
    assert CONTROL.search(run.text) is None
    assert not run.has_traceback


def test_folder_that_no_model_is_called_like_is_told_and_not_obeyed(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "checkout")
    folder = os.fsencode(checkout.path("pipelines")) + b"/odd\xff" + ODD.encode()
    os.mkdir(folder)
    manifest = checkout.path("pipelines/toy/manifest.yaml").read_bytes()
    with open(folder + b"/manifest.yaml", "wb") as file:
        file.write(manifest)
    run = checkout.doit()

    assert run.code == 3
    assert CONTROL.search(run.text) is None
    assert not run.has_traceback


def test_terminal_obeys_no_name_of_a_run(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "checkout")
    checkout.edit("ascendflow/stages/standin.py", '"mask"', repr(f"{ODD}\n[/red]"))
    run = checkout.doit()

    assert run.code == 0
    assert r"odd\x1b]0;owned\x07\x1b[31m\u202e\n[/red]" in run.text
    assert CONTROL.search(run.text) is None
