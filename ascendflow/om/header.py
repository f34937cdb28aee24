"""The first 256 bytes of an OM file.

Source: GE framework_types_internal.h (ModelFileHeader) and model_parser_base.cc, which
holds the length against the file's; so does `read_header`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from ascendflow.om.numbering import BUNDLE, MODEL_TYPES, named
from ascendflow.wire import MalformedError

if TYPE_CHECKING:
    from ascendflow.documents.inspection import OmHeader
    from ascendflow.om.source import Source

MAGIC = b"IMOD"
SIZE = 256
LENGTHS = ((76, 4), (184, 8))
"""(offset, size) of the two fields that hold the length of what follows."""

_LAYOUT = struct.Struct("<4sII64sIBBBB32sI32sII20sB3xQBB62s")
_ENCRYPTED = 1


class _Fields(NamedTuple):
    """What stands in the header, in its order."""

    magic: bytes
    head_size: int
    version: int
    checksum: bytes
    length: int
    encrypted: int
    checked: int
    model_type: int
    genmode: int
    name: bytes
    ops: int
    user_info: bytes
    ir_version: int
    model_num: int
    platform: bytes
    platform_type: int
    long_length: int
    checks_host: int
    unknown_shape: int
    reserved: bytes


def read_header(source: Source, start: int, stop: int) -> OmHeader:
    """Read the header of the OM that lies in `source` from `start` to `stop`.

    Raises:
        MalformedError: it is no OM, is cut short or too long, or is encrypted.
    """
    if (found := source.data[start : min(start + len(MAGIC), stop)]) != MAGIC:
        raise MalformedError(start, f"no OM file: it begins with {found!r}, not {MAGIC!r}")
    fields = _Fields._make(source.unpack(_LAYOUT, start, stop))
    if fields.head_size != SIZE:
        what = f"the header says to have {fields.head_size} bytes, not {SIZE}"
        raise MalformedError(start + 4, what)
    said, is_bundle = fields.long_length or fields.length, fields.model_type == BUNDLE
    _hold_length(said, start, stop, whole=is_bundle)
    if fields.encrypted == _ENCRYPTED:
        raise MalformedError(start + 80, "the model is encrypted, so nothing can be read")
    return {
        "version": f"{fields.version:#x}",
        "model_type": named(MODEL_TYPES, fields.model_type),
        "model_type_number": fields.model_type,
        "model_num": fields.model_num,
        "wide": bool(fields.long_length),
        "name": _text(fields.name),
        "checksum": fields.checksum.hex() if any(fields.checksum) else None,
        "is_checksum": fields.checked,
        "genmode": fields.genmode,
        "ops": fields.ops,
        "userdefineinfo": _text(fields.user_info),
        "om_ir_version": fields.ir_version,
        "platform_version": _text(fields.platform),
        "platform_type": fields.platform_type,
        "need_check_os_cpu_info": fields.checks_host,
        "is_unknow_model": fields.unknown_shape,
        "reserved": fields.reserved.hex() if any(fields.reserved) else None,
    }


def _hold_length(said: int, start: int, stop: int, *, whole: bool) -> None:
    """Refuse a length that is not the file's.

    `whole`: of a bundle GE counts the header too (SaveBundleModelBufferToMem).
    """
    found = stop - start if whole else stop - start - SIZE
    if said != found:
        kind = "cut short" if found < said else "too long"
        behind = "in all" if whole else "behind its header"
        what = f"{kind}: the header says {said} bytes {behind}, there are {found}"
        raise MalformedError(stop if found < said else stop - (found - said), what)


def _text(padded: bytes) -> str:
    return padded.partition(b"\0")[0].decode(errors="backslashreplace")
