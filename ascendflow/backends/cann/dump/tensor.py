"""One tensor of a dump: what its header tells of it.

Field numbers: OpOutput, OpInput, OpBuffer and Workspace of GE's dump_task.proto, which
CANN 8.1's dump_data.proto shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ascendflow.wire import MalformedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.backends.cann.dump.messages import Messages
    from ascendflow.wire import Field


@dataclass(frozen=True, slots=True)
class Origin:
    """The node that an output came from, as the compiler tells it.

    Attributes:
        node: its name; empty where the compiler tells none.
        output: which of the node's outputs.
        layout: number of the layout that it had.
    """

    node: str = ""
    output: int = 0
    layout: int = 0


@dataclass(frozen=True, slots=True)
class Tensor:
    """One input or output, a buffer or a workspace (which have but a size).

    Attributes:
        dtype: protobuf's number of the element type, see `elements`.
        layout: number of the layout in memory, see `layouts`.
        shape: in that layout.
        origin_shape: in the layout of the origin; empty of a scalar, and where not told.
        groups: above 1 of the weights of a grouped convolution, which are interleaved.
        size: its bytes; the device may have rounded them up.
        origin: of outputs only.
        start: its first byte in the file.
    """

    dtype: int = 0
    layout: int = 0
    shape: tuple[int, ...] = ()
    origin_shape: tuple[int, ...] = ()
    groups: int = 0
    size: int = 0
    origin: Origin | None = None
    start: int = 0


_NUMBER, _SHAPE, _ORIGIN, _TEXT, _INLINE = range(5)
Numbers = dict[int, tuple[str, int]]

OUTPUT: Numbers = {
    1: ("dtype", _NUMBER),
    2: ("layout", _NUMBER),
    3: ("shape", _SHAPE),
    4: ("origin", _ORIGIN),
    5: ("data", _INLINE),
    6: ("size", _NUMBER),
    7: ("origin_shape", _SHAPE),
    8: ("groups", _NUMBER),
}
INPUT: Numbers = {
    1: ("dtype", _NUMBER),
    2: ("layout", _NUMBER),
    3: ("shape", _SHAPE),
    4: ("data", _INLINE),
    5: ("size", _NUMBER),
    6: ("origin_shape", _SHAPE),
    7: ("groups", _NUMBER),
}
SCRATCH: Numbers = {2: ("data", _INLINE), 3: ("size", _NUMBER)}
"""A buffer, or a workspace."""
_NODE: Numbers = {1: ("node", _TEXT), 2: ("output", _NUMBER), 4: ("layout", _NUMBER)}


def read_tensor(messages: Messages, field: Field, numbers: Mapping[int, Any]) -> Tensor:
    """Read the message that is a field's content; unknown fields are passed over.

    Args:
        messages: of the file.
        field: whose content describes a tensor.
        numbers: OUTPUT, INPUT or SCRATCH.

    Raises:
        MalformedError: it is no such message.
    """
    messages.keep_tensor(field)
    return Tensor(**_read(messages, field, numbers))


def _read(messages: Messages, field: Field, numbers: Mapping[int, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in messages.inside(field):
        name, kind = numbers.get(part.number, ("", None))
        if kind == _NUMBER:
            found[name] = messages.number(part)
        elif kind == _SHAPE:
            found[name] = found.get(name, ()) + messages.dimensions(part)
        elif kind == _TEXT:
            found[name] = messages.text(part)
        elif kind == _ORIGIN:
            found[name] = Origin(**_read(messages, part, _NODE))
        elif kind == _INLINE and part.stop > part.content:
            what = "its tensors lie within the header, as in dumps of version 1"
            raise MalformedError(part.start, what)
    return found
