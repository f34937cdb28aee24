"""One error about all that stands in the way of lowering a model, by what lint found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.cann.deviations.kernel_dtype import KernelDtype
from ascendflow.cann.deviations.not_emulated import NotEmulated
from ascendflow.cann.other_modes import modes_that_help
from ascendflow.errors import NotModelledError, StageError
from ascendflow.graph.nodes import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_ir as ir

    from ascendflow.cann.lint import Finding
    from ascendflow.cann.target import Target

SHOWN = 20


def refuse(model: ir.Model, target: Target, findings: Sequence[Finding]) -> None:
    """Raise one error that lists every node that cannot be lowered, or do nothing.

    Args:
        model: the graph.
        target: what it is built for.
        findings: all that lint found in it.

    Raises:
        StageError: CANN itself refuses at least one node; its list comes first.
        NotModelledError: CANN refuses none, and the emulator computes nothing of some.
    """
    in_the_way = _in_the_way(model, findings)
    if not in_the_way:
        return
    refused = [each for each in in_the_way if each.found.consequence == "rejected"]
    unknown = [each for each in in_the_way if each.found.consequence != "rejected"]
    advice = _advice(in_the_way)
    modes = modes_that_help(model, target, lambda finding: finding.stops_convert)
    mode = f"set convert.precision_mode: {' or '.join(modes)}" if modes else ""
    unknown_text = f"the emulator has no model of:\n{_listed(unknown)}"
    if refused:
        text = f"convert: CANN {target.profile.version} refuses:\n{_listed(refused)}"
        raise StageError(
            f"{text}\nand {unknown_text}" if unknown else text,
            hint="; ".join(filter(None, [*advice, mode])) or None,
        )
    hint = f"change these nodes, or {mode}" if mode else "change these nodes"
    raise NotModelledError(f"convert: {unknown_text}", hint="; ".join([*advice, hint]))


def _in_the_way(model: ir.Model, findings: Sequence[Finding]) -> list[Finding]:
    """Leave out what kernels take of nodes that are not computed whatever they take."""
    beyond = {f.node for f in findings if f.deviation.name == NotEmulated.name}
    return [
        finding
        for finding in findings
        if finding.stops_convert
        and not (
            finding.deviation.name == KernelDtype.name
            and finding.node is not None
            and (finding.node in beyond or finding.node.graph is not model.graph)
        )
    ]


def _advice(in_the_way: Sequence[Finding]) -> list[str]:
    """Say what cures these findings, each cure once."""
    texts = [
        f"try rule {f.deviation.cure!r} of the rewrite stage"
        if f.deviation.cure
        else f.advice
        for f in in_the_way
    ]
    return list(dict.fromkeys(filter(None, texts)))


def _listed(findings: Sequence[Finding]) -> str:
    lines = [
        each.found.reason
        if each.node is None
        else f"node {label(each.node)!r} ({each.node.op_type}): {each.found.reason}"
        for each in findings
    ]
    more = [f"... and {len(lines) - SHOWN} more nodes"] if len(lines) > SHOWN else []
    return "\n".join(f"  {line}" for line in [*lines[:SHOWN], *more])
