"""ScatterND and ScatterElements: the reduction is dropped.

ScatterND becomes TensorScatterUpdate by its name alone, up to 9.1: updates overwrite.
ScatterElements: the plugins of canndev, 8.5.0 and 9.0.0 read the axis only; from 9.1 on
the reduction is passed on, and the kernel is documented to add and to multiply, and not
for max and min.

Where an index occurs twice, which update stays is not known on a device; the emulator
takes the last.

Sources: canndev `similar_opp_plugins.cc`, `scatter_elements_plugin.cc`; ops-math 8.5.0 to
9.1.0 `similar_opp_onnx_plugin.cpp`; ops-nn 8.5.0 to 9.1.0
`scatter_elements_onnx_plugin.cpp`, `scatter_elements/README.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.cann.profile import Release

if TYPE_CHECKING:
    import onnx_ir as ir

_PASSED_ON_SINCE = Release(9, 1)


class ScatterNDReduction(NodeDeviation):
    """Updates that overwrite instead of being added."""

    name: ClassVar[str] = "scatternd-reduction"
    op_types: ClassVar[frozenset[str]] = frozenset({"ScatterND"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent", "unknown")
    onnx: ClassVar[str] = "Updates are added to, or combined with, what is there."
    cann: ClassVar[str] = "The attribute reduction is not read: updates overwrite."
    cure: ClassVar[str | None] = "scatter-reduction"
    source: ClassVar[str] = (
        "canndev similar_opp_plugins.cc, scatter_elements_plugin.cc; ops-math 8.5.0 to "
        "9.1.0 similar_opp_onnx_plugin.cpp; ops-nn scatter_elements_onnx_plugin.cpp"
    )
    confidences: ClassVar[Confidences] = Confidences("medium", "medium", "high")
    """Read from 8.5 on; ONNX has had the attribute only since opset 16."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Read the attribute."""
        reduction = node.attributes.get_string("reduction", "none")
        if reduction == "none":
            return Harmless("updates overwrite in ONNX too")
        return Found(f"reduction {reduction!r} is dropped", "silent")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Drop the attribute where it is dropped."""
        if isinstance(self.detect(node, conditions), Found):
            node.attributes.pop("reduction")


class ScatterElementsReduction(ScatterNDReduction):
    """The same, until 9.0; from 9.1 on, max and min are in doubt."""

    name: ClassVar[str] = "scatterelements-reduction"
    op_types: ClassVar[frozenset[str]] = frozenset({"ScatterElements"})
    cann: ClassVar[str] = (
        "The attribute reduction is not read up to 9.0: updates overwrite. From 9.1 on add "
        "and mul are known to work."
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Read the attribute and the version."""
        found = super().detect(node, conditions)
        if conditions.profile.release < _PASSED_ON_SINCE or isinstance(found, Harmless):
            return found
        reduction = node.attributes.get_string("reduction", "none")
        if reduction in {"add", "mul"}:
            return Harmless(f"the kernel knows {reduction!r}")
        return Found(f"what the kernel does for {reduction!r} is not known", "unknown")
