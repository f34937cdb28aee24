"""The shipped example: passes as it is; fails without its rule, for the known reason.

So it does by `backend: cann`, on a stand-in of ATC and of a device.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.checkouts import ALL, FROM_LINT, FROM_REWRITE, SOURCE, Checkout
from tests.toolkits import make_device, make_device_python, make_python, make_toolkit

if TYPE_CHECKING:
    from pathlib import Path

    from tests.checkouts import Run

pytest.importorskip("torch", reason="the example is a PyTorch model")
pytestmark = pytest.mark.slow

MANIFEST = "pipelines/pan/manifest.yaml"
RULES = "rules: [resize-half-pixel]"
BACKEND = "backend: cann, toolkit: {toolkit}, python: {python}"


@pytest.fixture(scope="module")
def pan(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    checkout = Checkout(tmp_path_factory.mktemp("pan"), models=(), stand_ins=False)
    shutil.copytree(SOURCE / "pipelines" / "pan", checkout.path("pipelines/pan"))
    return checkout


@pytest.fixture(scope="module")
def as_shipped(pan: Checkout) -> Run:
    return pan.doit("model=pan")


@pytest.fixture(scope="module")
def unruled(
    pan: Checkout, as_shipped: Run, tmp_path_factory: pytest.TempPathFactory
) -> Checkout:
    """Return a copy of the built example whose manifest has lost its rule."""
    assert as_shipped.code == 0
    checkout = pan.copied_to(tmp_path_factory.mktemp("unruled") / "repository")
    checkout.edit(MANIFEST, RULES, "rules: []")
    return checkout


@pytest.fixture(scope="module")
def without_rule(unruled: Checkout) -> Run:
    return unruled.doit("model=pan")


def document(checkout: Checkout, path: str) -> Any:
    return json.loads(checkout.path(f"build/pan/{path}").read_text())


def test_it_passes_as_shipped(pan: Checkout, as_shipped: Run) -> None:
    numbers = document(pan, "evaluate/evaluation.json")

    assert (as_shipped.code, as_shipped.executed) == (0, ALL)
    assert numbers["torch"] >= 0.78
    assert numbers["target"] >= 0.99 * numbers["onnx"]
    assert "emulated, not run on a device" in as_shipped.text


def test_every_resize_is_rewritten(pan: Checkout, as_shipped: Run) -> None:
    assert as_shipped.code == 0
    (rule,) = document(pan, "rewrite/rewrite.json")["rules"]

    assert len(rule["applied"]) >= 8
    assert rule["skipped"] == []


def test_without_the_rule_it_fails_and_names_the_first_resize(
    unruled: Checkout, without_rule: Run
) -> None:
    verdict = document(unruled, "gate/verdict.json")
    node = verdict["first_divergent_node"]

    assert without_rule.code == 1
    assert without_rule.executed == FROM_REWRITE
    assert (node["op_type"], node["target_op"]) == ("Resize", "ResizeBilinearV2")
    assert "ResizeBilinearV2" in without_rule.text


def test_without_the_rule_the_end_metric_falls(
    unruled: Checkout, without_rule: Run
) -> None:
    numbers = document(unruled, "evaluate/evaluation.json")

    assert numbers["target"] < 0.95 * numbers["onnx"]
    assert "mean_iou" in without_rule.text


def test_with_the_rule_again_all_is_restored(unruled: Checkout, without_rule: Run) -> None:
    assert without_rule.code == 1
    unruled.edit(MANIFEST, "rules: []", RULES)
    again = unruled.doit("model=pan")

    assert (again.code, again.executed, again.restored) == (0, [], FROM_REWRITE)


class Device:
    """A copy of the built example whose manifest names a stand-in."""

    def __init__(self, pan: Checkout, folder: Path) -> None:
        self.checkout = pan.copied_to(folder / "repository")
        self.toolkit = make_toolkit(folder / "cann" / "latest")
        make_device(self.toolkit)
        backend = BACKEND.format(toolkit=self.toolkit, python=make_python(folder / "py"))
        self.checkout.edit(MANIFEST, "backend: emulator", backend)
        with self.checkout.path(MANIFEST).open("a") as file:
            file.write(f"infer: {{python: {make_device_python(folder / 'infer')}}}\n")

    def nodes(self) -> Any:
        return document(self.checkout, "compare/metrics.json")["nodes"]

    def verdict_and_numbers(self) -> tuple[Any, Any]:
        """Return the verdict and the numbers of the end metric."""
        parts = ("gate/verdict.json", "evaluate/evaluation.json")
        verdict, numbers = (document(self.checkout, part) for part in parts)
        return verdict, numbers


@pytest.fixture(scope="module")
def device(
    pan: Checkout, as_shipped: Run, tmp_path_factory: pytest.TempPathFactory
) -> Device:
    assert as_shipped.code == 0
    return Device(pan, tmp_path_factory.mktemp("device"))


@pytest.fixture(scope="module")
def on_device(device: Device) -> Run:
    return device.checkout.doit("model=pan")


def test_it_passes_on_a_device_with_the_model_that_the_emulator_had(
    device: Device, on_device: Run
) -> None:
    assert (on_device.code, on_device.executed) == (0, FROM_LINT), on_device.text
    verdict, numbers = device.verdict_and_numbers()
    assert (verdict["passed"], verdict["backend"]) == (True, "cann")
    assert numbers["torch"] >= 0.78
    assert numbers["target"] == pytest.approx(numbers["onnx"], rel=0.01)
    assert device.checkout.doit("model=pan").executed == []


def test_tensors_inside_are_compared(device: Device, on_device: Run) -> None:
    assert on_device.code == 0, on_device.text
    rows = device.nodes()
    resizes = [row for row in rows if row["target_op"] == "ResizeBilinearV2"]
    assert len(resizes) >= 8
    assert {row["status"] for row in resizes} == {"compared"}
    assert not any(row["diverges"] for row in rows)


def test_device_that_samples_elsewhere_fails_at_the_first_resize(
    device: Device, on_device: Run
) -> None:
    assert on_device.code == 0, on_device.text
    make_device(device.toolkit, resize=True)
    info = device.toolkit / "runtime" / "version.info"
    info.write_text(info.read_text() + "patched=1\n")

    run = device.checkout.doit("model=pan")

    assert (run.code, run.has_traceback) == (1, False), run.text
    verdict, numbers = device.verdict_and_numbers()
    resizes = [row for row in device.nodes() if row["target_op"] == "ResizeBilinearV2"]
    assert verdict["first_divergent_node"]["name"] == resizes[0]["node"]
    assert numbers["target"] < 0.95 * numbers["onnx"]
