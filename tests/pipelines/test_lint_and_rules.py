"""Lint, `rules: auto` and the user's own rules, in real runs and from the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import onnx
import pytest

from tests.checkouts import ALL, Checkout, Run
from tests.models import F32, model, node

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

MANIFEST = "pipelines/net/manifest.yaml"
AUTO = "rewrite: {rules: auto}"

RULE = """\
import onnx_ir as ir
from ascendflow.graph.rule import Applied, Rule
from slopes import SLOPE


class Slope(Rule):
    \"\"\"Spells out the slope.\"\"\"

    name = "slope"
    version = 1
    op_types = {"LeakyRelu"}
    effect = "exact"

    def apply(self, node):
        node.attributes["alpha"] = ir.AttrFloat32("alpha", SLOPE)
        yield Applied(node, {}, {"alpha": SLOPE})
"""


class First(NamedTuple):
    """A checkout, and the run that built it."""

    checkout: Checkout
    run: Run


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Start `net` from a model whose Resize the target samples otherwise."""
    folder = tmp_path_factory.mktemp("lint")
    nodes = [
        node("Resize", ["x", "", "up"], ["r"], mode="linear"),
        node("LeakyRelu", ["r"], ["y"]),
    ]
    up = {"up": np.array([1, 1, 2, 2], F32)}
    onnx.save(
        model(nodes, [("x", [1, 1, 4, 4])], [("y", [1, 1, 8, 8])], up), folder / "net.onnx"
    )
    checkout = Checkout(folder / "repository", models=(), stand_ins=False)
    checkout.doit("init", "net", "--onnx", str(folder / "net.onnx"))
    return checkout


@pytest.fixture(scope="module")
def first(started: Checkout, tmp_path_factory: pytest.TempPathFactory) -> First:
    """Build `net` once; a copy of it is up to date."""
    checkout = started.copied_to(tmp_path_factory.mktemp("first") / "repository")
    return First(checkout, checkout.doit("model=net"))


def document(checkout: Checkout, path: str) -> Any:
    return json.loads(checkout.path(f"build/net/{path}").read_text())


def test_init_lets_the_target_choose_and_the_report_lists_it(
    first: First, tmp_path: Path
) -> None:
    checkout = first.checkout.copied_to(tmp_path / "repository")
    report = checkout.path("build/net/report/report.html").read_text()
    written = "rewrite:\n  rules:\n    - {name: resize-half-pixel, nodes: [r]}"
    checkout.edit(MANIFEST, AUTO, f"{written}\n")
    why = checkout.doit("explain", "rewrite", "model=net").text
    named = checkout.doit("model=net")
    ran = named.executed

    assert "config.rules: removed 'auto'" in why
    assert "config.rules: added {'name': 'resize-half-pixel', 'nodes': ['r']}" in why
    assert "code of ascendflow" not in why
    assert (first.run.code, first.run.executed) == (0, ALL)
    assert "warning: lint" not in first.run.text
    assert written in report
    assert document(checkout, "lint/lint.json")["findings"] == []
    # The same model comes out, so that nothing behind it runs again but what tells of it.
    assert named.code == 0
    assert ran[0] == "rewrite"
    assert ran == ["rewrite", "check", "report"]  # who reads rewrite.json


def test_without_a_rule_lint_warns_and_the_report_holds_it(
    first: First, tmp_path: Path
) -> None:
    checkout = first.checkout.copied_to(tmp_path / "repository")
    checkout.edit(MANIFEST, AUTO, "rewrite: {rules: []}")

    run = checkout.doit("model=net")

    assert run.code == 1  # the gate's
    warning = "lint:net: resize-half-pixel, silent, confidence medium, 1 node (r)"
    assert run.text.count(warning) == 1
    assert "\n1 warning above, of lint\n" in run.text
    warnings = document(checkout, "report/report.json")["warnings"]
    assert "lint" in [warning["stage"] for warning in warnings]


def test_auto_chooses_anew_for_another_target(first: First, tmp_path: Path) -> None:
    checkout = first.checkout.copied_to(tmp_path / "repository")

    other = checkout.doit("model=net", "soc=Ascend310B1")
    checkout.edit(MANIFEST, AUTO, "rewrite: {rules: [resize-half-pixel]}")
    named = checkout.doit("model=net")
    again = checkout.doit("model=net", "soc=Ascend310B1")

    assert other.executed[0] == "rewrite"
    assert named.executed[0] == "rewrite"
    assert "rewrite" in again.restored


def test_what_is_refused_stops_before_convert(started: Checkout, tmp_path: Path) -> None:
    checkout = started.copied_to(tmp_path / "repository")
    pool = node("MaxPool", ["x"], ["r", "indices"], kernel_shape=[2, 2])
    indices = ("indices", [1, 1, 3, 3], onnx.TensorProto.INT64)
    outputs: list[Any] = [("r", [1, 1, 3, 3]), indices]
    proto = model([pool], [("x", [1, 1, 4, 4])], outputs)
    onnx.save(proto, checkout.path("pipelines/net/net.onnx"))

    run = checkout.doit("model=net")

    assert run.code == 2
    assert "lint:net: CANN 8.1 refuses:" in run.text
    assert "node 'r' (MaxPool): " in run.text
    assert "convert" not in run.executed
    assert not run.has_traceback


def test_a_rule_of_the_users_runs_again_when_what_it_imports_changes(
    started: Checkout, tmp_path: Path
) -> None:
    checkout = started.copied_to(tmp_path / "repository")
    checkout.path("pipelines/net/own_rule.py").write_text(RULE)
    checkout.path("pipelines/net/slopes.py").write_text("SLOPE = 0.01\n")
    use = "rewrite: {rules: [auto, {name: slope, file: own_rule.py, nodes: [y]}]}"
    checkout.edit(MANIFEST, AUTO, use)
    checkout.edit(MANIFEST, "count: 4", "count: 4, ranges: {x: [-1, 1]}")
    first = checkout.doit("model=net")
    unchanged = checkout.doit("model=net")
    log = document(checkout, "rewrite/rewrite.json")["rules"]
    checkout.edit("pipelines/net/slopes.py", "0.01", "0.02")
    broken = checkout.doit("model=net")
    checkout.edit("pipelines/net/slopes.py", "0.02", "0.01 / 0")
    raising = checkout.doit("model=net")

    assert (first.code, unchanged.executed) == (0, [])
    assert [(e["rule"], e["file"]) for e in log] == [
        ("resize-half-pixel", None),
        ("slope", "own_rule.py"),
    ]
    assert broken.code == 2
    assert broken.executed == ["rewrite"]
    assert "rule 'slope@1' promises exact" in broken.text
    assert raising.code == 2
    assert "slopes.py:1, on import: ZeroDivisionError" in raising.text


def test_whatever_a_users_rule_does_the_run_ends_with_its_place_in_words(
    first: First, tmp_path: Path
) -> None:
    checkout = first.checkout.copied_to(tmp_path / "repository")
    use = "rewrite: {rules: [{name: slope, file: own_rule.py, nodes: [y]}]}"
    checkout.edit(MANIFEST, AUTO, use)
    mute = "raise type('Mute', (Exception,), {'__str__': None})"
    faults = {
        "raise SystemExit(0)": "(apply), on node 'y': sys.exit(0) would end the stage",
        mute: "(apply), on node 'y': Mute, whose text cannot be read",
        "g = node.graph; [g.remove(n) for n in list(g)]": "took out another node too, 'r'",
    }
    for fault, told in faults.items():
        text = RULE.replace(
            "    def apply(self, node):\n", f"    def apply(self, node):\n        {fault}\n"
        )
        assert text != RULE
        checkout.path("pipelines/net/own_rule.py").write_text(text)
        checkout.path("pipelines/net/slopes.py").write_text("SLOPE = 0.01\n")

        run = checkout.doit("model=net")

        assert run.code == 2
        assert told in run.text
        assert not run.has_traceback


def test_lint_takes_a_file_named_from_any_folder(started: Checkout) -> None:
    """Other commands go to the repository's folder first."""
    run = started.doit("lint", "pipelines/net/net.onnx", "--soc=Ascend310P3", "--cann=8.1")
    stage = started.doit("lint")

    assert run.code == 1
    assert "1 silent" in run.text
    assert stage.code == 3
    assert "the stage of a pipeline: doit run lint" in stage.text
