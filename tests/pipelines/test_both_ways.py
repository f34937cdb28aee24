"""A build for a CANN of which no source says what it does, from file to report."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.cann.resizing import AS_ASYMMETRIC, HONOURED
from tests.checkouts import Checkout
from tests.models import resize_chain

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

MANIFEST = "pipelines/net/manifest.yaml"


@pytest.fixture
def chain(tmp_path: Path) -> Checkout:
    checkout = Checkout(tmp_path / "repository", models=(), stand_ins=False)
    source = tmp_path / "chain.onnx"
    source.write_bytes(resize_chain("half_pixel").SerializeToString())
    checkout.doit("init", "net", "--onnx", str(source))
    checkout.edit(MANIFEST, 'cann: "8.1"', 'cann: "9.1"')
    return checkout


def verdict(checkout: Checkout) -> Any:
    return json.loads(checkout.path("build/net/gate/verdict.json").read_text())


def test_both_are_built_restored_and_told_and_the_rule_ends_it(chain: Checkout) -> None:
    """RS01."""
    rules = "rewrite: {rules: auto}"
    chain.edit(MANIFEST, rules, "rewrite: {rules: []}")

    failed = chain.doit("run", "model=net")
    told = verdict(chain)
    shutil.rmtree(chain.path("build/net"))
    again = chain.doit("run", "model=net")

    assert failed.code == again.code == 1
    assert f"if {AS_ASYMMETRIC}, must be >= 0.999" in failed.text
    assert "unknown on CANN 9.1: resize-half-pixel (8 nodes)" in failed.text
    assert "both were computed, the worse is shown" in failed.text
    assert told["emulation"]["behaviours"]["names"] == [HONOURED, AS_ASYMMETRIC]
    assert again.executed == []
    assert chain.path("build/net/infer/outputs/alternative/tensors.json").is_file()
    assert verdict(chain) == told

    chain.edit(MANIFEST, "rewrite: {rules: []}", rules)
    passed = chain.doit("run", "model=net")

    assert passed.code == 0, passed.text
    assert "unknown on CANN" not in passed.text
    assert not chain.path("build/net/infer/outputs/alternative").exists()
