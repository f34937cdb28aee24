"""What each stage does, and the file of it to read: for `help`, `list` and the README.

Apart from the stages themselves: to list tasks, none of their classes is needed.
"""

from __future__ import annotations

from typing import NamedTuple


class Summary(NamedTuple):
    """One stage.

    Attributes:
        does: what it does.
        read: the file to read of what it makes, below the stage's folder in build/<model>/.
    """

    does: str
    read: str


SUMMARIES = {
    "samples": Summary(
        "makes the samples, and holds each to the manifest's inputs",
        "samples/feeds/tensors.json",
    ),
    "export": Summary(
        "makes ONNX of the source, with fixed shapes and a name for each node",
        "exported/model.onnx",
    ),
    "golden": Summary(
        "runs PyTorch and that ONNX on every sample: the goldens, the outputs that all "
        "later ones are measured against",
        "golden.json",
    ),
    "simplify": Summary(
        "folds constants and fuses nodes with onnxsim, held to the goldens", "simplify.json"
    ),
    "rewrite": Summary("edits the graph by the manifest's rules", "rewrite.json"),
    "check": Summary(
        "holds each rule to what it promises, in onnxruntime on the samples", "check.json"
    ),
    "lint": Summary(
        "says where the target is known to differ from ONNX on the rewritten graph",
        "lint.json",
    ),
    "convert": Summary(
        "builds the target's model: ATC's OM, or an emulated one", "conversion.json"
    ),
    "infer": Summary("runs that on every sample", "outputs/tensors.json"),
    "compare": Summary(
        "measures its outputs, and tensors inside, against the goldens", "metrics.json"
    ),
    "evaluate": Summary(
        "computes your end metric for PyTorch, ONNX and target", "evaluation.json"
    ),
    "gate": Summary("holds the numbers to the manifest's thresholds", "verdict.json"),
    "report": Summary("writes it all up, for people and for programs", "report.html"),
    "contrast": Summary(
        "shows where emulator and device disagree, with two backends only", "contrast.html"
    ),
}
