"""One case: its model brought into CANN's opsets, its feeds, and what must come out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

from ascendflow.errors import StageError
from ascendflow.graph.io_spec import dtype_name, opset_of
from ascendflow.graph.operators import RANDOM_OPERATORS
from ascendflow.graph.opset import convert_opset
from ascendflow.graph.run import session_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

OPSETS = range(9, 19)
"""What the emulator reads for CANN 8.1."""
RTOL, ATOL = 1e-3, 1e-7
"""Tolerances of ONNX's own runner of these cases."""
_UNPLAIN = ("bfloat16", "float8", "int4", "uint4")
"""Element types that onnxruntime takes from no plain array."""

_GRID_SAMPLE_BEFORE_20 = {b"linear": b"bilinear", b"cubic": b"bicubic"}


class NotRunError(Exception):
    """Why a case says nothing about us."""


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        name: as ONNX calls it.
        model: in an opset of OPSETS.
        feeds: input name -> array; a list for a sequence, None for an absent optional.
        expected: the outputs in order, by ONNX's reference; onnxruntime agrees.
    """

    name: str
    model: onnx.ModelProto = field(repr=False)
    feeds: Mapping[str, Any] = field(repr=False)
    expected: tuple[Any, ...] = field(repr=False)

    @property
    def operator(self) -> str:
        """What it is about: its operator, or "several" where it is a body of many."""
        types = {node.op_type for node in self.model.graph.node} - {"Constant"}
        return types.pop() if len(types) == 1 else "several"


def names(folder: Path) -> list[str]:
    """List the cases in `folder`."""
    return sorted(path.parent.name for path in folder.glob("*/model.onnx"))


def read(folder: Path, name: str) -> Case:
    """Read a case and hold it against onnxruntime.

    Raises:
        NotRunError: onnxruntime does not give what is expected, or the model has no form
            in OPSETS for which it does.
    """
    model = onnx.load(folder / name / "model.onnx")
    if not RANDOM_OPERATORS.isdisjoint(node.op_type for node in model.graph.node):
        raise NotRunError("its operator gives random numbers")
    values = folder / name / "test_data_set_0"
    feeds = {
        value.name: _value(values / f"input_{number}.pb", value.type)
        for number, value in enumerate(model.graph.input)
        if (values / f"input_{number}.pb").exists()
    }
    expected = tuple(
        _value(values / f"output_{number}.pb", value.type)
        for number, value in enumerate(model.graph.output)
    )
    case = Case(name, model, feeds, expected)
    if (why := _why_not_reproduced(case)) is not None:
        raise NotRunError(f"onnxruntime {why}")
    opset = opset_of(model)
    if opset is None or opset in OPSETS:
        return case
    return _moved(case, OPSETS[-1] if opset > OPSETS[-1] else OPSETS[0])


def agrees(found: Any, expected: Any) -> bool:
    """Return whether a value is the expected one, by the rule of ONNX's runner."""
    if isinstance(expected, list):
        pairs = zip(found, expected, strict=False)
        return len(found) == len(expected) and all(agrees(a, b) for a, b in pairs)
    if expected is None or found is None:
        return found is expected
    found, expected = np.asarray(found), np.asarray(expected)
    if (found.shape, found.dtype) != (expected.shape, expected.dtype):
        return False
    if expected.dtype.kind in "OUS":
        return bool((found == expected).all())
    wide, right = found.astype(np.float64), expected.astype(np.float64)
    return bool(np.allclose(wide, right, rtol=RTOL, atol=ATOL, equal_nan=True))


def run(model: onnx.ModelProto, feeds: Mapping[str, Any]) -> list[Any]:
    """Run in onnxruntime as the pipeline does; what it raises is its own."""
    options = session_options(1)
    options.log_severity_level = 4
    session = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    if not any(_is_unplain(value) for value in (*model.graph.input, *model.graph.output)):
        return list(session.run(None, dict(feeds)))
    given = {
        value.name: ort.OrtValue.ortvalue_from_numpy_with_onnx_type(
            feeds[value.name].view(_bits(feeds[value.name])),
            value.type.tensor_type.elem_type,
        )
        for value in model.graph.input
    }
    found = session.run_with_ort_values([v.name for v in model.graph.output], given)
    return [value.numpy() for value in found]


def _is_unplain(value: onnx.ValueInfoProto) -> bool:
    return dtype_name(value.type.tensor_type.elem_type).startswith(_UNPLAIN)


def _bits(array: np.ndarray) -> Any:
    return array.dtype if array.dtype.isbuiltin == 1 else f"u{array.dtype.itemsize}"


def _why_not_reproduced(case: Case) -> str | None:
    try:
        found = run(case.model, case.feeds)
    except Exception as error:  # noqa: BLE001 - its classes share no public base
        return "cannot load or run it" if str(error) else "fails"
    pairs = zip(found, case.expected, strict=True)
    return None if all(agrees(a, b) for a, b in pairs) else "gives other values"


def _moved(case: Case, opset: int) -> Case:
    """Bring a case to `opset` by a way on which onnxruntime still gives what it must."""
    reasons = []
    for model in _in_opset(case.model, opset):
        if isinstance(model, str):
            reasons.append(model)
            continue
        moved = Case(case.name, model, case.feeds, case.expected)
        try:
            onnx.checker.check_model(model, full_check=True)
        except Exception:  # noqa: BLE001 - two classes, and those of shape inference
            reasons.append(f"not valid in opset {opset}")
            continue
        if (why := _why_not_reproduced(moved)) is None:
            return moved
        reasons.append(f"in opset {opset} onnxruntime {why}")
    raise NotRunError(reasons[0])


def _in_opset(model: onnx.ModelProto, opset: int) -> Iterator[onnx.ModelProto | str]:
    """Give what the converter makes, then the same nodes under the other number."""
    try:
        yield convert_opset(model, opset)
    except StageError:
        yield f"ONNX's converter knows no way to opset {opset}"
    relabelled = onnx.ModelProto()
    relabelled.CopyFrom(model)
    for imported in relabelled.opset_import:
        if not imported.domain:
            imported.version = opset
    for node in relabelled.graph.node:
        for attribute in node.attribute:
            if node.op_type == "GridSample" and attribute.s in _GRID_SAMPLE_BEFORE_20:
                attribute.s = _GRID_SAMPLE_BEFORE_20[attribute.s]
    yield relabelled


def _value(path: Path, declared: onnx.TypeProto) -> Any:
    content = path.read_bytes()
    match declared.WhichOneof("value"):
        case "sequence_type":
            return numpy_helper.to_list(onnx.SequenceProto.FromString(content))
        case "optional_type":
            return numpy_helper.to_optional(onnx.OptionalProto.FromString(content))
    return numpy_helper.to_array(onnx.TensorProto.FromString(content))
