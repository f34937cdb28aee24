"""`backend: cann` with its table of nodes, by a stand-in device, here and on a board."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from tests.exported_models import model, node, value
from tests.sshd import running_sshd
from tests.toolkits import (
    make_device,
    make_device_python,
    make_python,
    make_toolkit,
    turn_to_cann,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.checkouts import Checkout

pytestmark = pytest.mark.slow

SHAPE = [1, 3, 8, 8]


def net() -> onnx.ModelProto:
    """A Conv and a Relu that the device makes one of, and a Resize."""
    generator = np.random.default_rng(2)
    weights = generator.standard_normal((20, 3, 3, 3)).astype(np.float32)
    scales = np.array([1, 1, 2, 2], np.float32)
    nodes = [
        node("Conv", ["x", "w"], ["c"], name="/conv", pads=[1, 1, 1, 1]),
        node("Relu", ["c"], ["r"], name="/relu"),
        node(
            "Resize",
            ["r", "", "s"],
            ["u"],
            name="/up",
            mode="linear",
            coordinate_transformation_mode="pytorch_half_pixel",
        ),
        node("Neg", ["u"], ["n"], name="/neg"),
        node("Neg", ["n"], ["y"], name="/out"),
    ]
    constants = {"w": weights, "s": scales}
    initializers = [onnx.numpy_helper.from_array(v, k) for k, v in constants.items()]
    shapes = [value("x", SHAPE)], [value("y", [1, 20, 16, 16])]
    return model(nodes, *shapes, initializers, opset=16)


@dataclass(frozen=True)
class Place:
    """A checkout with the model `net` for a stand-in device.

    Attributes:
        toolkit: the CANN that the manifest names.
        python: what runs there, for `infer`.
    """

    checkout: Checkout
    toolkit: Path
    python: Path

    def says(self, **said: Any) -> None:
        make_device(self.toolkit, **said)

    @property
    def manifest(self) -> Path:
        return self.checkout.path("pipelines/net/manifest.yaml")

    def add(self, text: str) -> None:
        with self.manifest.open("a") as manifest:
            manifest.write(text)

    def built(self, path: str) -> Any:
        return json.loads(self.checkout.path(f"build/net/{path}").read_text())

    @property
    def rows(self) -> dict[str, Any]:
        return {row["tensor"]: row for row in self.built("compare/metrics.json")["nodes"]}

    @property
    def report(self) -> str:
        return self.checkout.path("build/net/report/report.html").read_text()


@pytest.fixture(scope="module")
def converted(empty: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a place whose OM is built, for what a device then does with it."""
    folder = tmp_path_factory.mktemp("converted")
    toolkit = make_toolkit(folder / "cann" / "latest")
    python = make_device_python(folder / "infer")
    place = Place(empty.copied_to(folder / "repository"), toolkit, python)
    onnx.save(net(), folder / "m.onnx")
    made = place.checkout.doit("init", "net", "--onnx", str(folder / "m.onnx"))
    assert made.code == 0, made.text
    turn_to_cann(place.manifest, toolkit, make_python(folder / "py"))
    assert place.checkout.doit("convert:net").code == 0
    return place


@pytest.fixture
def place(converted: Place, tmp_path: Path) -> Place:
    """Return a copy, whose device does nothing that a test before has said."""
    checkout = converted.checkout.copied_to(tmp_path / "repository")
    place = replace(converted, checkout=checkout)
    place.says()
    return place


def assert_table_is_whole(place: Place) -> None:
    rows = place.rows
    assert list(rows) == ["c", "r", "u", "n", "y"]
    assert {name: row["status"] for name, row in rows.items()} == {
        **dict.fromkeys(["r", "u", "n", "y"], "compared"),
        "c": "golden_only",
    }
    assert rows["c"]["target_op"] == rows["r"]["target_op"] == "Conv2D (/conv + /relu)"
    assert rows["u"]["target_op"] == "ResizeBilinearV2"
    for name in ("r", "u", "n", "y"):
        assert rows[name]["metrics"]["cosine_similarity"] > 0.99999
        assert not rows[name]["diverges"]
    # What the device keeps is float16: half of its last digit is 2**-11.
    assert 0 < rows["r"]["metrics"]["max_relative_error"] <= 2**-11
    assert "Conv2D (/conv + /relu)" in place.report


def test_device_is_compared_node_by_node(place: Place) -> None:
    place.add(f"infer: {{python: {place.python}}}\n")

    run = place.checkout.doit("model=net")

    assert run.code == 0, run.text
    assert_table_is_whole(place)
    assert place.built("gate/verdict.json")["backend"] == "cann"
    assert "inside changes output" not in run.text
    assert place.checkout.doit("model=net").executed == []


def test_board_is_compared_node_by_node(place: Place, tmp_path: Path) -> None:
    with running_sshd(tmp_path / "ssh") as sshd:
        place.add(
            f"infer: {{host: {sshd.host}, ssh_config: {sshd.config}, "
            f"python: {place.python}, toolkit: {place.toolkit}}}\n"
        )

        run = place.checkout.doit("model=net")

        assert run.code == 0, run.text
        assert not (sshd.home / ".ascendflow").exists()
    assert_table_is_whole(place)


def test_operator_that_is_wrong_on_the_device_is_named(place: Place) -> None:
    """EV06: an OM of opset 16 gives nonsense; the report names the first bad node."""
    place.says(resize=True)  # samples as if there were no half pixels
    place.add(f"infer: {{python: {place.python}}}\n")

    run = place.checkout.doit("model=net")

    assert run.code == 1, run.text
    first = place.built("gate/verdict.json")["first_divergent_node"]
    assert (first["name"], first["target_op"]) == ("/up", "ResizeBilinearV2")
    assert not place.rows["r"]["diverges"]
    assert "/up" in run.text
    assert "/up" in place.report
    exported = place.checkout.path("build/net/export/exported/model.onnx")
    assert onnx.load(exported).opset_import[0].version == 16


def test_dump_that_changes_the_output_is_warned_of_with_both_values(place: Place) -> None:
    place.says(dump="changes outputs")
    place.add(f"infer: {{python: {place.python}}}\n")

    run = place.checkout.doit("model=net")

    assert run.code == 0, run.text
    (warned,) = [
        text
        for text in map(str, place.built("report/report.json")["warnings"])
        if "changes output" in text
    ]
    said = re.search(r"5120 of 5120 elements, most at .*, (\S+) without and (\S+) ", warned)
    assert said is not None, warned
    assert abs(float(said[2]) - float(said[1]) - 0.5) < 1e-5


def test_nan_on_the_device_never_passes_as_a_small_error(place: Place) -> None:
    place.says(dump="nan")
    place.add(f"infer: {{python: {place.python}}}\n")

    run = place.checkout.doit("compare:net")

    assert run.code == 0, run.text
    row = place.rows["r"]
    assert row["diverges"]
    assert row["introduced_nonfinite"] == 20 * 8 * 8
    assert row["metrics"]["cosine_similarity"] == "NaN"


def test_dump_that_is_cut_short_fails_and_says_what_to_do(place: Place) -> None:
    place.says(dump="truncated")
    place.add(f"infer: {{python: {place.python}}}\n")

    run = place.checkout.doit("model=net")

    assert (run.code, run.has_traceback) == (2, False)
    assert "the device's dump: Conv2D._conv_relu.1.3." in run.text
    assert "dump again" in run.text


def test_missing_file_is_a_warning_and_no_fine_row(place: Place) -> None:
    place.says(dump="missing")
    place.add(f"infer: {{python: {place.python}}}\ncompare: {{dump_gb: 0.01}}\n")

    run = place.checkout.doit("model=net")

    assert run.code == 0, run.text
    assert place.rows["r"]["status"] == "golden_only"
    assert "1 operators on the device left no dump" in place.report


def test_pictures_that_aipp_prepares_are_compared_node_by_node(place: Place) -> None:
    aipp = "  aipp: {x: {input_format: RGB888_U8, mean: [1, 2, 3], scale: [0.5, 1, 2]}}\n"
    text = place.manifest.read_text()
    place.manifest.write_text(text.replace("  backend: cann\n", "  backend: cann\n" + aipp))
    place.add(f"infer: {{python: {place.python}}}\n")

    run = place.checkout.doit("model=net")

    assert run.code == 0, run.text
    assert_table_is_whole(place)
    assert "only outputs are compared" not in run.text


def test_msprobe_compares_the_nodes_where_the_manifest_says_so(place: Place) -> None:
    place.says(resize=True)
    place.add(f"infer: {{python: {place.python}}}\ncompare: {{nodes_by: msprobe}}\n")

    run = place.checkout.doit("model=net")

    assert run.code == 1, run.text
    rows = place.rows
    assert rows["c"]["status"] == "golden_only"
    assert rows["r"]["metrics"]["cosine_similarity"] > 0.99999
    assert [name for name, row in rows.items() if row["diverges"]][:1] == ["u"]
    first = place.built("gate/verdict.json")["first_divergent_node"]
    assert (first["name"], first["target_op"]) == ("/up", "ResizeBilinearV2")

    place.says(msprobe="not compared")  # which is no error by its own verdict
    text = place.manifest.read_text()
    place.manifest.write_text(text.replace("by: msprobe", "by: msprobe, node_samples: 2"))
    again = place.checkout.doit("compare:net")
    assert again.code == 0, again.text
    assert "it was not compared: The data size" in place.rows["r"]["problem"]
    assert place.rows["r"]["diverges"]

    place.says()
    installed = place.python.parents[1] / "site" / "mindstudio_probe-26.3.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Name: mindstudio-probe\nVersion: 26.3.0\n")
    upgraded = place.checkout.doit("compare:net")
    assert upgraded.executed == ["compare"], upgraded.text
    assert place.rows["r"]["problem"] is None
