"""GRU with linear_before_reset=0: computed as if it were 1.

The parser reads hidden_size and direction only. The pass that follows makes DynamicGRUV2
of it and does not set reset_after, whose default is true: the reset gate is applied after
the hidden state was multiplied by the recurrent weights, bias included.

Source: canndev `gru_plugin.cc`, `gru_fusion_pass.cc`, `rnn.h`, 2022-06; ops-nn master
`gru_onnx_plugin.cpp`; 8.1.RC1 `rnn.h`. The pass is closed after 6.0.
"""

from __future__ import annotations

from typing import ClassVar

import onnx_ir as ir

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, NodeDeviation

_ATTRIBUTE = "linear_before_reset"


class GruLbr0(NodeDeviation):
    """The reset gate applied after the matrix product."""

    name: ClassVar[str] = "gru-lbr0"
    op_types: ClassVar[frozenset[str]] = frozenset({"GRU"})
    models_kernel: ClassVar[bool] = True
    consequences: ClassVar[tuple[Consequence, ...]] = ("silent",)
    onnx: ClassVar[str] = (
        "linear_before_reset, 0 by default, says whether the reset gate is applied before "
        "or after the matrix product with the hidden state."
    )
    cann: ClassVar[str] = "The attribute is not read; the reset gate is applied after."
    cure: ClassVar[str | None] = "gru-unrolled"
    source: ClassVar[str] = (
        "canndev gru_plugin.cc, gru_fusion_pass.cc, rnn.h 2022-06; ops-nn master "
        "gru_onnx_plugin.cpp; CANN 8.1.RC1 rnn.h"
    )

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:  # noqa: ARG002
        """Look at linear_before_reset."""
        if node.attributes.get_int(_ATTRIBUTE, 0):
            return Harmless(f"{_ATTRIBUTE} is 1, which is what CANN computes")
        return Found(f"{_ATTRIBUTE} is 0 and is computed as 1", "silent")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:  # noqa: ARG002
        """Apply the reset gate after."""
        node.attributes.add(ir.AttrInt64(_ATTRIBUTE, 1))
