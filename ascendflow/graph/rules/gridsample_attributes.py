"""GridSample: mode and padding_mode written out.

CANN's parser passes absent attributes on as empty strings. The defaults of ONNX change
nothing where they are spelled.

Source: ONNX operator docs, GridSample-16 and GridSample-20; ops-cv
`grid_sample_onnx_plugin.cpp`, 9.1.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import onnx_ir as ir

from ascendflow.graph.rule import Applied, Finding, Rule, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascendflow.documents.rewrite_log import Effect

_RENAMED_SINCE = 20
"""The opset since which `bilinear` is called `linear`."""


class GridSampleAttributes(Rule):
    """Write the defaults out."""

    name: ClassVar[str] = "gridsample-attributes"
    version: ClassVar[int] = 1
    op_types: ClassVar[frozenset[str]] = frozenset({"GridSample"})
    effect: ClassVar[Effect] = "exact"

    def apply(self, node: ir.Node) -> Iterator[Finding]:
        """Add the attributes that one node lacks."""
        renamed = (node.version or 0) >= _RENAMED_SINCE
        defaults = {"mode": "linear" if renamed else "bilinear", "padding_mode": "zeros"}
        absent = {k: v for k, v in defaults.items() if k not in node.attributes}
        if not absent:
            yield Skipped(node, "mode and padding_mode are there")
            return
        for name, text in absent.items():
            node.attributes.add(ir.AttrString(name, text))
        yield Applied(node, before=dict.fromkeys(absent), after=absent)
