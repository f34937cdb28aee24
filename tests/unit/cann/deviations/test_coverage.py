"""Every deviation has its four tests, and those that were read keep the names users know.

`proofs.toml` says which test is which. What a kind of test must do is held to its calls,
those of the module's own helpers included: a row cannot name just any test.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ascendflow.cann.deviations import DEVIATIONS

if TYPE_CHECKING:
    from ascendflow.cann.deviations.deviation import Deviation

HERE = Path(__file__).parent
PROOFS = tomllib.loads((HERE / "proofs.toml").read_text())
CALLS = {
    "emulated": {"emulate", "dump", "infer"},
    "differs": {"emulate", "dump"},
    "refused": {"raises"},
    "named": {"linted", "lint"},
    "silent": {"linted"},
    "cured": {"cured", "rewrite"},
}
"""What a test of each kind must call one of.

emulated: equals an independent transcription. differs: from onnxruntime, by at least what
is stated. refused: is not emulated, in words. named: lint names that node. silent: lint
does not on the nearest harmless twin. cured: after the rule, the original's values.
"""
RUNS = {"run", "normalised", "judge"}
"""Gives what ONNX says; LRN's even sizes, which onnxruntime refuses, are written out."""

READ = {
    "resize-half-pixel",
    "resize-nearest-tie",
    "resize-ignored-attr",
    "upsample-ctm",
    "pool-same-lower",
    "maxpool-dilation",
    "maxpool-big-window",
    "pool-indices",
    "softmax-legacy-axis",
    "logsoftmax-legacy-axis",
    "roialign-max",
    "mod-sign",
    "gru-lbr0",
    "rnn-extra-attr",
    "lrn-even",
    "reduce-noop",
    "scatternd-reduction",
    "gathernd-batch",
    "convtranspose-output-shape",
    "convtranspose-kernel-shape",
    "opset-window",
    "op-unregistered",
    "pad-axes",
    "topk-int64",
    "arg-int32",
    "const-overflow-fp16",
    "eps-underflow-fp16",
    "reducemean-fp16-acc",
    "pow-square",
    "gelu-tanh",
    "pool-fp16-only",
    "index-in-fp16",
    "conv-overflow",
}


def needed(deviation: Deviation) -> set[str]:
    """Say which kinds of test a deviation needs, by what it says of itself.

    What is rejected or unknown is not computed, so nothing can be compared before the
    cure; what only lint warns of is not either; where no rule exists nothing is cured.
    """
    kinds = {"named", "silent"}
    if set(deviation.consequences) <= {"rejected", "unknown"}:
        kinds.add("refused")
    elif deviation.is_emulated:
        kinds |= {"emulated", "differs"}
    return kinds | ({"cured"} if deviation.cure else set())


def test_what_was_read_has_its_deviation() -> None:
    assert {deviation.name for deviation in DEVIATIONS} >= READ


def test_each_deviation_has_a_row_and_each_row_a_deviation() -> None:
    assert list(PROOFS) == [deviation.name for deviation in DEVIATIONS]


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=lambda each: each.name)
def test_each_deviation_has_its_four_tests(deviation: Deviation) -> None:
    row = dict(PROOFS[deviation.name])
    file = row.pop("file")

    assert set(row) == needed(deviation)
    for kind, said in row.items():
        where, _, test = said.rpartition("::")
        calls = calls_of(HERE / (where or file), test)
        assert calls & CALLS[kind], f"{kind}: {said} calls none of {CALLS[kind]}"
        if kind == "differs":
            assert calls & RUNS, f"{said} asks nobody what ONNX says"


def test_row_that_names_another_test_is_found() -> None:
    silent = PROOFS["mod-sign"]["silent"]

    assert not calls_of(HERE / "test_mod_sign.py", silent) & CALLS["cured"]
    with pytest.raises(KeyError):
        calls_of(HERE / "test_mod_sign.py", "test_that_is_not_there")


def calls_of(file: Path, function: str) -> set[str]:
    """Name what a function calls, through other functions of its module."""
    tree = ast.parse(file.read_text())
    functions = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
    waiting, found = [function], set[str]()
    while waiting:
        made = _called(functions[waiting.pop()])
        waiting += sorted(made & functions.keys() - found)
        found |= made
    return found


def _called(function: ast.FunctionDef) -> set[str]:
    calls = (each.func for each in ast.walk(function) if isinstance(each, ast.Call))
    names = ((c.id if isinstance(c, ast.Name) else getattr(c, "attr", "")) for c in calls)
    return set(names)
