"""Gelu spelled with Erf: folded to an operator that computes the tanh formula.

GeluONNXFusionPass puts `Gelu` in the place of Div, Erf, Add, Mul and Mul (`graph.erf_gelu`
says which). In half of its patterns it does not look whether what is halved is the x that
the Erf saw; the fused operator only sees that x.

The kernel computes x / (1 + exp(-|y|)) * exp(min(y, 0)), y = 1.5957691 (x + 0.044715 x^3),
in fp32 where the SoC has an fp32 exp. On 310 every step is fp16 for fp16 data, and exp is
fp16 for fp32 data too.

`--op_select_implmode=high_performance_for_all`, or naming Gelu in
`--optypelist_for_implmode`, gives a quadratic that is off by up to 0.018:
x (sgn(x) (0.5 - 0.1444 (min(|0.7071 x|, 1.769) - 1.769)^2) + 0.5), where sgn(x) is
(x + d) / |x + d|, by a reciprocal. With fp16 data each of its steps is fp16, d is 1e-7
(1e-12, so 0, up to 6.0), and its reciprocal is beyond fp16: saturated that does no harm,
on 910B and 910_93 no source says what comes of it.

Whether releases after 6.0 still have the pass is not known: it is not in 8.1.RC1's
fusion_config.json, which does not name every pass.

Sources: canndev `gelu_onnx_fusion_pass.cc`; 8.1.RC1 `dynamic/gelu.py`,
`impl_mode/high_performance.ini`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ascendflow.cann.detection import Consequence, Detection, Found, Harmless
from ascendflow.cann.deviations.deviation import Conditions, Confidences, NodeDeviation
from ascendflow.cann.steps import Steps
from ascendflow.graph.erf_gelu import ErfGelu, erf_gelu
from ascendflow.vocabulary import HALF_MAX

if TYPE_CHECKING:
    import onnx_ir as ir

_MATCH = "ascendflow.gelu-tanh"


class GeluTanh(NodeDeviation):
    """The Add that stands in the middle of an Erf-Gelu."""

    name: ClassVar[str] = "gelu-tanh"
    op_types: ClassVar[frozenset[str]] = frozenset({"Add"})
    consequences: ClassVar[tuple[Consequence, ...]] = ("precision", "silent", "unknown")
    onnx: ClassVar[str] = "x * 0.5 * (1 + erf(x / sqrt(2))) is computed as it is written."
    cann: ClassVar[str] = (
        "Div, Erf, Add, Mul and Mul become one Gelu, whose kernel computes the tanh "
        "formula: up to 4.7e-4 off; its high_performance kernel is up to 0.018 off."
    )
    cure: ClassVar[str | None] = "unfuse-gelu"
    source: ClassVar[str] = (
        "canndev gelu_onnx_fusion_pass.cc 2021-05 to 2022-06; CANN 8.1.RC1 dynamic/gelu.py"
    )
    confidences: ClassVar[Confidences] = Confidences("high", "medium", "low")
    """The pass was read up to 6.0; nothing later names it."""

    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Find the pattern, and remember it: roundings are put between its nodes later."""
        found = erf_gelu(node)
        if isinstance(found, str):
            return Harmless(found)
        node.meta[_MATCH] = found
        quick = _is_quick(conditions)
        if quick and conditions.half and conditions.soc.overflow == "inf":
            return Found(
                "fused to Gelu, whose high_performance kernel takes the reciprocal of 1e-7 "
                "in fp16 near 0: what that gives is not known",
                "unknown",
            )
        if not found.is_gelu:
            return Found(
                f"Gelu({_name(found.div.inputs[0])}) takes the place of a product with "
                f"{_name(found.halved)}",
                "silent",
            )
        formula = "a quadratic" if quick else "the tanh"
        return Found(f"fused to Gelu, which computes {formula} formula", "precision")

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Put the kernel where the last Mul is, and take the other four nodes away."""
        match = node.meta.get(_MATCH)
        if not isinstance(match, ErfGelu):
            return
        x, before = match.div.inputs[0], list(match.last.inputs)
        assert x is not None  # noqa: S101, the pattern has it
        native = not conditions.soc.fp32_functions
        if _is_quick(conditions):
            _quick_kernel(match.last, x, conditions)
        else:
            _kernel(match.last, x, half=native and conditions.half, half_exp=native)
        _remove(before, keep={x, match.halved})


def _is_quick(conditions: Conditions) -> bool:
    return conditions.settings.implementation("Gelu") == "high_performance"


def _quick_kernel(last: ir.Node, x: ir.Value, conditions: Conditions) -> None:
    """Spell the quadratic out; with fp16 data each step is rounded."""
    step = Steps(last, conditions.soc.overflow if conditions.half else None)
    is_old = conditions.profile.is_read
    size = step("Abs", [step("Mul", [x, step.number(0.7071)])])
    off = step("Add", [step("Min", [size, step.number(1.769)]), step.number(-1.769)])
    bent = step("Mul", [step("Mul", [off, off]), step.number(-0.1444)])
    bent = step("Add", [bent, step.number(0.5)])
    moved = step("Add", [x, step.number(1e-7 if conditions.half and not is_old else 1e-12)])
    inverse = step("Reciprocal", [step("Abs", [moved])])
    if conditions.soc.family == "ascend310p" and not is_old:
        inverse = step("Min", [inverse, step.number(HALF_MAX)])
    signed = step("Mul", [bent, step("Mul", [moved, inverse])])
    step("Mul", [x, step("Add", [signed, step.number(0.5)])])
    step.put_in_place()


def _kernel(last: ir.Node, x: ir.Value, *, half: bool, half_exp: bool) -> None:
    """Spell the kernel out; `half`: each step is rounded, `half_exp`: only exp is."""
    step = Steps(last, "saturate" if half else None)
    cube = step("Mul", [step("Mul", [x, x]), x])
    inner = step("Add", [x, step("Mul", [cube, step.number(0.044715)])])
    y = step("Mul", [inner, step.number(1.5957691)])
    low = step("Min", [y, step.number(0.0)])
    negative = step("Neg", [step("Abs", [y])])
    exp = Steps.half_exp if half_exp else Steps.exp
    divisor = step("Add", [exp(step, negative), step.number(1.0)])
    left = step("Div", [x, divisor])
    step("Mul", [left, exp(step, low)])
    step.put_in_place()


def _remove(values: list[ir.Value | None], keep: set[ir.Value]) -> None:
    """Remove what gave `values` and what only that read, roundings included."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if value is None or value in keep or value.uses() or value.is_graph_output():
            continue
        if (producer := value.producer()) is None or producer.graph is None:
            continue
        inputs = list(producer.inputs)
        if all(not v.uses() and not v.is_graph_output() for v in producer.outputs):
            producer.graph.remove(producer, safe=True)
            waiting.extend(inputs)


def _name(value: ir.Value | None) -> str:
    return repr(value.name if value is not None else "")
