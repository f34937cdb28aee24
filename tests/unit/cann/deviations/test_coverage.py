"""What was read in CANN's sources keeps its deviation, under the name that users know.

Lint's answers, reports and pages link to these names. A deviation that is renamed, or left
out of the tuple that lint goes through, is missed by no other test: its own imports it.
"""

from __future__ import annotations

from ascendflow.cann.deviations import DEVIATIONS

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


def test_what_was_read_has_its_deviation() -> None:
    assert {deviation.name for deviation in DEVIATIONS} >= READ
