"""Files at the end of a scale: very deep, very long, very many, far too large.

Each goes through lint, the list of types, the emulator, a rule and `init` with all stages.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import onnx
import pytest
from onnx import TensorProto, helper

from ascendflow.backends.emulator.backend import Emulator
from ascendflow.cann import listing
from ascendflow.cann.survey import survey
from ascendflow.cann.target import Target
from ascendflow.errors import AscendflowError
from ascendflow.graph.rewrite import Request, rewrite
from tests.emulation import target
from tests.exported_models import model, node, value
from tests.fuzz import journey, onnx_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DEEPEST = 30
"""Of If in If: protobuf itself reads no message that is nested more than 100 deep."""


def nested(levels: int) -> onnx.ModelProto:
    """If in If in If, each with another operator in its second branch."""
    inner = node("Neg", ["x"], ["t0"])
    for level in range(1, levels + 1):
        shape = [3]
        then = helper.make_graph(
            [inner], f"then{level}", [], [value(f"t{level - 1}", shape)]
        )
        other = node("Abs", ["x"], [f"e{level}"])
        branch = helper.make_graph([other], f"else{level}", [], [value(f"e{level}", shape)])
        inner = node("If", ["c"], [f"t{level}"], then_branch=then, else_branch=branch)
    inputs = [value("x", [3]), value("c", [], TensorProto.BOOL)]
    return model([inner], inputs, [value(f"t{levels}", [3])], opset=15)


def chain(count: int) -> onnx.ModelProto:
    names = ["x", *(f"t{at}" for at in range(count))]
    nodes = [node("Neg", [a], [b]) for a, b in pairwise(names)]
    return model(nodes, [value("x", [3])], [value(names[-1], [3])], opset=15)


def long_attribute(count: int) -> onnx.ModelProto:
    window = node("MaxPool", ["x"], ["y"], kernel_shape=[2] * count)
    return model([window], [value("x", [1, 3, 8, 8])], [value("y", None)], opset=15)


def huge(*dims: int) -> onnx.ModelProto:
    weights = TensorProto(name="w", data_type=1, dims=dims, raw_data=bytes(4))
    add = node("Add", ["x", "w"], ["y"])
    return model([add], [value("x", [3])], [value("y", None)], [weights], opset=15)


def nested_bytes(file: Path) -> bytes:
    content = file.read_bytes()
    for _ in range(200):
        for tag in (b"\x32", b"\x2a", b"\x0a", b"\x3a"):  # g, attribute, node, graph
            content = tag + onnx_files.varint(len(content)) + content
    return content


def taken(file: Path, folder: Path) -> dict[str, str | None]:
    """Say how each step refuses the file, None where it does its work."""
    where = Target.of(target())
    steps: dict[str, Callable[[], Any]] = {
        "lint": lambda: survey(file, target()),
        "precision": lambda: listing.as_text(listing.listed(file, where), where),
        "compile": lambda: Emulator().compile(file, folder / "model", target()),
        "rewrite": lambda: rewrite(file, folder / "e.onnx", [Request("pow-to-mul")]),
    }
    said: dict[str, str | None] = {}
    for name, step in steps.items():
        try:
            step()
        except AscendflowError as error:
            said[name] = str(error)
        else:
            said[name] = None
    (folder / "repository").mkdir()
    verdict = journey.travel(file, folder / "repository")
    assert verdict.how in ("passed", "refused"), verdict.said
    return said | {"journey": verdict.said or None}


NO_SHAPE = "breaks ONNX's rules|not a readable ONNX model"


@pytest.mark.parametrize(
    ("made", "refused"),
    [
        pytest.param(
            nested(DEEPEST), {"compile": r"'If_t30' \(If\)", "journey": "If_t"}, id="deep"
        ),
        pytest.param(chain(500), {}, id="many-nodes"),
        pytest.param(
            long_attribute(100_000),
            dict.fromkeys(("lint", "precision", "compile", "rewrite", "journey"), NO_SHAPE),
            id="long-attribute",
        ),
        pytest.param(
            huge(1 << 40, 1 << 40),
            {
                **dict.fromkeys(("lint", "precision"), NO_SHAPE),
                **dict.fromkeys(
                    ("compile", "rewrite"),
                    "'w' has 4 bytes, its type and shape need 4835703278458516698824704",
                ),
                "journey": "model.onnx",
            },
            id="more-than-2^64-elements",
        ),
    ],
)
def test_it_is_done_or_refused_in_words(
    tmp_path: Path, made: onnx.ModelProto, refused: dict[str, str]
) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(made.SerializeToString())

    said = taken(file, tmp_path)

    assert {name for name, text in said.items() if text is not None} == refused.keys()
    for name, words in refused.items():
        assert re.search(words, said[name] or ""), (name, said[name])


def test_graph_that_is_nested_deeper_than_protobuf_reads_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(chain(1).SerializeToString())
    file.write_bytes(nested_bytes(file))

    said = taken(file, tmp_path)

    assert all(text is not None and "model.onnx" in text for text in said.values()), said


def test_nodes_in_all_branches_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    onnx.save(nested(DEEPEST), file)

    assert survey(file, target())["nodes"] == 2 * DEEPEST + 1
