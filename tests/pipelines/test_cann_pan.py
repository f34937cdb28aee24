"""The shipped example by `backend: cann`, on a stand-in of ATC and of a device."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.checkouts import ALL, SOURCE, Checkout
from tests.toolkits import make_device, make_device_python, make_python, make_toolkit

if TYPE_CHECKING:
    from pathlib import Path

    from tests.checkouts import Run

pytest.importorskip("torch", reason="the example is a PyTorch model")
pytestmark = pytest.mark.slow

BACKEND = "backend: cann, toolkit: {toolkit}, python: {python}"


class Pan:
    """A checkout of the example whose manifest names a stand-in."""

    def __init__(self, folder: Path) -> None:
        self.checkout = Checkout(folder / "repository", models=(), stand_ins=False)
        shutil.copytree(SOURCE / "pipelines/pan", self.checkout.path("pipelines/pan"))
        self.toolkit = make_toolkit(folder / "cann" / "latest")
        make_device(self.toolkit)
        backend = BACKEND.format(toolkit=self.toolkit, python=make_python(folder / "py"))
        manifest = "pipelines/pan/manifest.yaml"
        self.checkout.edit(manifest, "backend: emulator", backend)
        with self.checkout.path(manifest).open("a") as file:
            file.write(f"infer: {{python: {make_device_python(folder / 'infer')}}}\n")

    def document(self, path: str) -> Any:
        return json.loads(self.checkout.path(f"build/pan/{path}").read_text())


@pytest.fixture(scope="module")
def pan(tmp_path_factory: pytest.TempPathFactory) -> Pan:
    return Pan(tmp_path_factory.mktemp("pan"))


@pytest.fixture(scope="module")
def first_run(pan: Pan) -> Run:
    return pan.checkout.doit("model=pan")


def test_it_passes_from_pytorch_to_the_report(pan: Pan, first_run: Run) -> None:
    assert (first_run.code, first_run.executed) == (0, ALL), first_run.text
    verdict, numbers = document_pair(pan)
    assert (verdict["passed"], verdict["backend"]) == (True, "cann")
    assert numbers["torch"] >= 0.78
    assert numbers["target"] == pytest.approx(numbers["onnx"], rel=0.01)
    assert pan.checkout.doit("model=pan").executed == []


def test_tensors_inside_are_compared(pan: Pan, first_run: Run) -> None:
    assert first_run.code == 0, first_run.text
    rows = pan.document("compare/metrics.json")["nodes"]
    resizes = [row for row in rows if row["target_op"] == "ResizeBilinearV2"]
    assert len(resizes) >= 8
    assert {row["status"] for row in resizes} == {"compared"}
    assert not any(row["diverges"] for row in rows)


def test_device_that_samples_elsewhere_fails_at_the_first_resize(
    pan: Pan, first_run: Run
) -> None:
    assert first_run.code == 0, first_run.text
    make_device(pan.toolkit, resize=True)
    info = pan.toolkit / "runtime" / "version.info"
    info.write_text(info.read_text() + "patched=1\n")

    run = pan.checkout.doit("model=pan")

    assert (run.code, run.has_traceback) == (1, False), run.text
    verdict, numbers = document_pair(pan)
    rows = pan.document("compare/metrics.json")["nodes"]
    first = next(row for row in rows if row["target_op"] == "ResizeBilinearV2")
    assert verdict["first_divergent_node"]["name"] == first["node"]
    assert numbers["target"] < 0.95 * numbers["onnx"]


def document_pair(pan: Pan) -> tuple[Any, Any]:
    """Return the verdict and the numbers of the end metric."""
    return pan.document("gate/verdict.json"), pan.document("evaluate/evaluation.json")
