"""A rule of the user's own: found, applied, proved; and whose fault a fault is."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.stages.check import Check
from ascendflow.stages.rewrite import Rewrite
from tests.models import model, node, resize_chain
from tests.stages import context, write_set

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).resolve().parents[3]

RULE = """\
import onnx_ir as ir
from ascendflow.graph.rule import Applied, Rule, Skipped


class LastAxis(Rule):
    name = "last-axis"
    version = 1
    op_types = {"Softmax"}
    effect = "exact"

    def apply(self, node):
        rank = len(node.inputs[0].shape)
        axis = node.attributes.get_int("axis", -1)
        if axis >= 0:
            yield Skipped(node, f"axis is {axis}")
            return
        node.attributes["axis"] = ir.AttrInt64("axis", axis + rank)
        yield Applied(node, {"axis": axis}, {"axis": axis + rank})
"""
AS_2D = """\
import numpy as np
from ascendflow.graph.edit import Chain
from ascendflow.graph.nodes import constant
from ascendflow.graph.rule import Applied, Rule


class As2d(Rule):
    name = "conv1d-as-2d"
    version = 1
    op_types = {"Conv"}
    effect = "equivalent"

    def apply(self, node):
        chain = Chain(node)
        axis = chain.constant("axis", np.array([2]))
        weights = chain.constant("weights", constant(node.inputs[1])[:, :, None])
        picture = chain("Unsqueeze", [node.inputs[0], axis])
        attributes = {"pads": PADS, "kernel_shape": [1, 5]}
        chain("Squeeze", [chain("Conv", [picture, weights], attributes), axis])
        chain.put_in_place()
        yield Applied(node, {"rank": 3}, {"rank": 4})
"""
USE = {"name": "last-axis", "file": "own_rule.py", "nodes": None, "count": None}


@pytest.fixture(autouse=True)
def fresh_imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A stage has a process of its own; here its modules are forgotten."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    sys.modules.pop("own_rule", None)


def softmax() -> onnx.ModelProto:
    nodes = [node("Softmax", ["x"], ["s"], axis=-1), node("Softmax", ["s"], ["y"], axis=0)]
    return model(nodes, [("x", [2, 3])], [("y", [2, 3])])


def rewritten(
    root: Path, text: str, proto: onnx.ModelProto | None = None, **use: Any
) -> Any:
    (root / "own_rule.py").write_text(text)
    (root / "simplified").mkdir()
    onnx.save(proto or softmax(), root / "simplified" / "model.onnx")
    ctx = context(Rewrite, root, {"rules": [{**USE, **use}]})
    Rewrite().run(ctx)
    return ctx


def test_it_edits_the_graph_and_is_in_the_log(tmp_path: Path) -> None:
    ctx = rewritten(tmp_path, RULE)

    log = json.loads(ctx.outputs["rewrite.json"].read_text())
    (entry,) = log["rules"]
    assert (entry["rule"], entry["file"], entry["effect"]) == (
        "last-axis",
        "own_rule.py",
        "exact",
    )
    assert entry["applied"] == [
        {"node": "s", "op_type": "Softmax", "before": {"axis": -1}, "after": {"axis": 1}}
    ]
    made = onnx.load(ctx.outputs["rewritten"] / "model.onnx")
    assert [each.attribute[0].i for each in made.graph.node] == [1, 0]


@pytest.mark.parametrize("twice", [False, True], ids=["alone", "with-another"])
def test_its_promise_is_proved_as_any_other(tmp_path: Path, twice: bool) -> None:
    """It says exact and sets another axis; told apart from one that keeps its word."""
    text = RULE.replace("axis + rank", "0").replace("last-axis", "wrong")
    text = text.replace("if axis >= 0", "if axis == 0")
    rules = [{**USE, "name": "wrong"}]
    if twice:
        rules.insert(0, USE)
        text += RULE.replace("LastAxis", "Right")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)

    with pytest.raises(StageError, match="output 'y' differs") as caught:
        check(tmp_path, softmax(), text, rules, x)

    assert "rule 'wrong@1' promises exact" in str(caught.value)


def check(
    root: Path, proto: onnx.ModelProto, text: str, rules: list[dict[str, Any]], x: Any
) -> None:
    """Rewrite by rules of `own_rule.py`, and hold them to their promise on one sample."""
    (root / "own_rule.py").write_text(text)
    (root / "simplified").mkdir()
    onnx.save(proto, root / "simplified" / "model.onnx")
    Rewrite().run(context(Rewrite, root, {"rules": rules}))
    for role in ("rewritten", "rewrite.json"):
        (root / "out" / role).rename(root / role)
    (root / "out").rmdir()
    write_set(root / "samples" / "feeds", [{"x": x}])
    Check().run(context(Check, root, {"allow_lossy": False}))


def rule_on_the_page(name: str) -> str:
    """Return the code block of docs/user-code.md that holds the rule `name`."""
    page = (REPOSITORY / "docs" / "user-code.md").read_text()
    blocks = re.findall(r"(?m)(?:^ {4,}\S.*\n|^\n(?= {4}))+", page)
    (block,) = [block for block in blocks if f'name = "{name}"' in block]
    return textwrap.dedent(block)


def test_the_rules_that_the_page_shows_keep_their_promises(tmp_path: Path) -> None:
    x = np.linspace(-5, 5, 42, dtype=np.float32).reshape(6, 7)
    swish = model([node("HardSwish", ["x"], ["y"])], [("x", x.shape)], [("y", x.shape)])
    shown = {"last-axis": softmax(), "hard-swish-parts": swish}
    for rule, proto in shown.items():
        (tmp_path / rule).mkdir()
        text, rules = rule_on_the_page(rule), [{**USE, "name": rule}]

        check(tmp_path / rule, proto, text, rules, x[:2, :3] if rule == "last-axis" else x)

        made = onnx.load(tmp_path / rule / "rewritten" / "model.onnx")
        assert made.graph.node != proto.graph.node
        sys.modules.pop("own_rule", None)


def test_a_convolution_of_the_users_in_two_dimensions_is_proved(tmp_path: Path) -> None:
    """OP09: within 1e-5; with other pads it would have another shape, or other values."""
    rng = np.random.default_rng(7)
    w = rng.standard_normal((4, 3, 5)).astype(np.float32)
    x = rng.standard_normal((1, 3, 20)).astype(np.float32)
    conv = node("Conv", ["x", "w"], ["y"], pads=[1, 1])
    proto = model([conv], [("x", x.shape)], [("y", [1, 4, 18])], {"w": w})
    rules = [{**USE, "name": "conv1d-as-2d"}]
    right, wrong = (
        AS_2D.replace("PADS", pads) for pads in ("[0, 1, 0, 1]", "[0, 2, 0, 0]")
    )
    for name in ("right", "wrong"):
        (tmp_path / name).mkdir()

    check(tmp_path / "right", proto, right, rules, x)
    sys.modules.pop("own_rule")
    with pytest.raises(StageError, match="rule 'conv1d-as-2d@1' promises equivalent"):
        check(tmp_path / "wrong", proto, wrong, rules, x)


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        pytest.param(
            ("def apply", "def aply"), r"own_rule\.py:5 .*must have apply", id="abc"
        ),
        pytest.param(("    version = 1\n", ""), "must have version", id="no-version"),
        pytest.param(("version = 1", "version = '1'"), "version must be an int", id="type"),
        pytest.param(('"exact"', '"exakt"'), "effect must be one of exact,", id="effect"),
        pytest.param(('{"Softmax"}', '"Softmax"'), "op_types must be a set", id="op-types"),
        pytest.param(
            ("name = ", "nam = "),
            r"defines no rule called 'last-axis'\n.*LastAxis",
            id="name",
        ),
        pytest.param(("(Rule)", ""), "defines no rule called 'last-axis'", id="no-rule"),
        pytest.param(
            ("import onnx_ir", "import"), r"own_rule\.py.*SyntaxError", id="syntax"
        ),
        pytest.param(
            ("rank = ", "rank = 1 // 0 + "),
            r"own_rule\.py:12 \(apply\), on node 's': ZeroDivisionError",
            id="raises",
        ),
        pytest.param(
            ("        yield Applied", "        node.name = 'z'\n        yield Applied"),
            r"own_rule\.py:11: rule 'last-axis', node 's': renamed",
            id="renames",
        ),
        pytest.param(
            (
                "        yield Applied(node, {",
                "        return\n        yield Applied(node, {",
            ),
            r"own_rule\.py:11: .*yielded 0 findings",
            id="says-nothing",
        ),
        pytest.param(
            (
                "    def apply",
                (
                    "    def apply(self, node):\n        return next(self.found(node))\n\n"
                    "    def found"
                ),
            ),
            r"own_rule\.py:11: rule 'last-axis', node 's': returned Applied: apply must "
            "yield one Applied or one Skipped",
            id="returns",
        ),
        pytest.param(
            ("    def apply", "    def apply(self, node): pass\n\n    def found"),
            r"own_rule\.py:11: rule 'last-axis', node 's': returned None: apply must yield",
            id="returns-nothing",
        ),
        pytest.param(
            ('{"axis": axis + rank})', '{"axis": node})'), "are no JSON data", id="no-json"
        ),
        pytest.param(
            ("rank = ", "import sys; sys.exit(3); rank = "),
            r"own_rule\.py:12 \(apply\), on node 's': sys\.exit\(3\) would end the stage",
            id="exits",
        ),
        pytest.param(
            ("import onnx_ir as ir", "raise SystemExit"),
            r"own_rule\.py:1, on import: sys\.exit\(\) would end the stage",
            id="exits-on-import",
        ),
        pytest.param(
            (
                "rank = ",
                "class Mute(Exception): __str__ = None\n        raise Mute; rank = ",
            ),
            r"own_rule\.py:13 \(apply\), on node 's': Mute, whose text cannot be read",
            id="no-text",
        ),
        pytest.param(
            (
                "rank = ",
                (
                    "Mute = type('Mute', (), {'__repr__': lambda _: 1 / 0})\n"
                    "        yield Mute(); return; rank = "
                ),
            ),
            r"own_rule\.py:12 \(<lambda>\), on node 's': ZeroDivisionError",
            id="no-repr",
        ),
        pytest.param(
            ("rank = ", "while True: yield Skipped(node, 'again')\n        rank = "),
            "yielded 2 findings, not one",
            id="endless",
        ),
        pytest.param(
            (
                "rank = ",
                "g = node.graph\n        for n in list(g): g.remove(n)\n        rank = ",
            ),
            r"own_rule\.py:11: rule 'last-axis', node 's': took out another node too, 'y' "
            r"\(Softmax\)",
            id="takes-all-out",
        ),
        pytest.param(
            (
                "    def apply",
                "    def candidates(self, model): return []\n\n    def apply",
            ),
            r"own_rule\.py:5 \(LastAxis\): candidates is not its own to define",
            id="selects-itself",
        ),
        pytest.param(
            ("import onnx_ir as ir", "import onnx_ir as ir, ascendflow.cann.lint"),
            "imports ascendflow.cann.*, which a rule may not",
            id="imports",
        ),
    ],
)
def test_a_fault_of_it_is_told_with_file_and_line(
    tmp_path: Path, edit: tuple[str, str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "ascendflow.cann.lint" in edit[1]:
        for name in [each for each in sys.modules if each.startswith("ascendflow.cann")]:
            monkeypatch.delitem(sys.modules, name)
    assert edit[0] in RULE

    with pytest.raises(StageError, match=told):
        rewritten(tmp_path, RULE.replace(*edit))


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ({"nodes": ["q"]}, "no Softmax node is called 'q'"),
        ({"count": 1}, "2 nodes match, count allows 1"),
        ({"file": "gone.py"}, r"gone\.py: no such file"),
    ],
)
def test_selectors_are_held_to_as_for_any_other(
    tmp_path: Path, use: dict[str, Any], told: str
) -> None:
    with pytest.raises(StageError, match=told):
        rewritten(tmp_path, RULE, **use)


def test_it_comes_after_ascendflows_own(tmp_path: Path) -> None:
    text = RULE.replace("Softmax", "Resize").replace("last-axis", "late")
    text = text.replace('get_int("axis", -1)', "get_int('axis', -1)")
    (tmp_path / "own_rule.py").write_text(
        text.replace(
            "        rank =",
            "        yield Skipped(node, node.attributes["
            "'coordinate_transformation_mode'].value)\n        return\n        rank =",
        )
    )
    (tmp_path / "simplified").mkdir()
    onnx.save(resize_chain("half_pixel"), tmp_path / "simplified" / "model.onnx")
    rules = [{**USE, "name": "late"}, {"name": "resize-half-pixel"}]
    ctx = context(Rewrite, tmp_path, {"rules": rules})
    Rewrite().run(ctx)

    first, last = json.loads(ctx.outputs["rewrite.json"].read_text())["rules"]
    assert first["rule"] == "resize-half-pixel"
    assert {each["reason"] for each in last["skipped"]} == {"pytorch_half_pixel"}


OTHER = "node.outputs[0].consumers()[0]"
ELSEWHERE = [
    pytest.param(
        f"{OTHER}.attributes['axis'] = ir.AttrInt64('axis', 1)",
        "edited another node too, 'y' (Softmax)",
        id="attribute",
    ),
    pytest.param(
        f"{OTHER}.replace_input_with(0, node.inputs[0])",
        "edited another node too, 'y' (Softmax)",
        id="input",
    ),
    pytest.param(
        f"other = {OTHER}; other.name = 'z'",
        "edited another node too, 'z' (Softmax)",
        id="name",
    ),
    pytest.param("node.graph.outputs.pop()", "changed the model's outputs", id="outputs"),
    pytest.param(
        "w = node.graph.initializers['w']; w.const_value = ir.tensor([1.0], name='w')",
        "changed the constant 'w', which 'sum' (Add) reads too",
        id="constant",
    ),
]


@pytest.mark.parametrize("says", ["Applied", "Skipped"])
@pytest.mark.parametrize(("edit", "told"), ELSEWHERE)
def test_what_it_does_to_another_node_is_told_with_both(
    tmp_path: Path, edit: str, told: str, says: str
) -> None:
    nodes = [*softmax().graph.node, node("Add", ["y", "w"], ["z"], name="sum")]
    w = {"w": np.zeros(1, np.float32)}
    proto = model(nodes, [("x", [2, 3])], [("z", [2, 3])], w)
    honest = "node.attributes['axis'] = ir.AttrInt64('axis', axis + rank)"
    done = f"{honest}; yield Applied(node, {{}}, {{}})"
    if says == "Skipped":
        done = "yield Skipped(node, 'no')"
    text = RULE.replace("rank = ", f"{edit}\n        rank = ").replace(
        '        node.attributes["axis"]',
        f'        {done}; return\n        node.attributes["axis"]',
    )

    with pytest.raises(StageError) as caught:
        rewritten(tmp_path, text, proto)

    assert caught.value.message.startswith("own_rule.py:11: rule 'last-axis', node 's': ")
    assert told in caught.value.message


def test_the_readers_of_what_it_replaces_are_left_alone(tmp_path: Path) -> None:
    """They read another tensor of the same name, which is no edit of theirs."""
    text = RULE.replace(
        "import onnx_ir", "from ascendflow.graph.edit import Chain\nimport onnx_ir"
    )
    text = text.replace(
        """        node.attributes["axis"] = ir.AttrInt64("axis", axis + rank)
""",
        """        chain = Chain(node)
        chain("Softmax", [node.inputs[0]], {"axis": axis + rank})
        chain.put_in_place()
""",
    )

    ctx = rewritten(tmp_path, text)

    made = onnx.load(ctx.outputs["rewritten"] / "model.onnx")
    assert [each.attribute[0].i for each in made.graph.node] == [1, 0]
