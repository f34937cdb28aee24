"""The shipped example: passes as it is; fails without its rule, for the known reason."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.checkouts import ALL, FROM_REWRITE, SOURCE, Checkout

if TYPE_CHECKING:
    from tests.checkouts import Run

pytest.importorskip("torch", reason="the example is a PyTorch model")
pytestmark = pytest.mark.slow

RULES = "rules: [resize-half-pixel]"


@pytest.fixture(scope="module")
def pan(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    checkout = Checkout(tmp_path_factory.mktemp("pan"), models=(), stand_ins=False)
    shutil.copytree(SOURCE / "pipelines" / "pan", checkout.path("pipelines/pan"))
    return checkout


@pytest.fixture(scope="module")
def as_shipped(pan: Checkout) -> Run:
    return pan.doit("model=pan")


@pytest.fixture(scope="module")
def without_rule(pan: Checkout, as_shipped: Run) -> Run:
    assert as_shipped.code == 0
    pan.edit("pipelines/pan/manifest.yaml", RULES, "rules: []")
    return pan.doit("model=pan")


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
    pan: Checkout, without_rule: Run
) -> None:
    verdict = document(pan, "gate/verdict.json")
    node = verdict["first_divergent_node"]

    assert without_rule.code == 1
    assert without_rule.executed == FROM_REWRITE
    assert (node["op_type"], node["target_op"]) == ("Resize", "ResizeBilinearV2")
    assert "ResizeBilinearV2" in without_rule.text


def test_without_the_rule_the_end_metric_falls(pan: Checkout, without_rule: Run) -> None:
    numbers = document(pan, "evaluate/evaluation.json")

    assert numbers["target"] < 0.95 * numbers["onnx"]
    assert "mean_iou" in without_rule.text


def test_with_the_rule_again_all_is_restored(pan: Checkout, without_rule: Run) -> None:
    assert without_rule.code == 1
    pan.edit("pipelines/pan/manifest.yaml", "rules: []", RULES)
    again = pan.doit("model=pan")

    assert (again.code, again.executed, again.restored) == (0, [], FROM_REWRITE)
