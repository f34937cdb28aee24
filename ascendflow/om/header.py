"""The first 256 bytes of an OM file.

Source: GE framework_types_internal.h (ModelFileHeader) and model_parser_base.cc, which
holds the length against the file's; so does `read_header`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

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


def read_header(source: Source, start: int, stop: int) -> OmHeader:
    """Read the header of the OM that lies in `source` from `start` to `stop`.

    Raises:
        MalformedError: it is no OM, is cut short or too long, or is encrypted.
    """
    if source.data[start : min(start + len(MAGIC), stop)] != MAGIC:
        found = source.data[start : min(start + len(MAGIC), stop)]
        raise MalformedError(start, f"no OM file: it begins with {found!r}, not {MAGIC!r}")
    (_, head_size, version, checksum, length, encrypted, checked, model_type, genmode,
     name, ops, user_info, ir_version, model_num, platform, platform_type,
     long_length, checks_host, unknown_shape, reserved) = source.unpack(
        _LAYOUT, start, stop
    )  # fmt: skip
    if head_size != SIZE:
        raise MalformedError(
            start + 4, f"the header says to have {head_size} bytes, not 256"
        )
    _hold_length(long_length or length, start, stop, whole=model_type == BUNDLE)
    if encrypted == _ENCRYPTED:
        raise MalformedError(start + 80, "the model is encrypted, so nothing can be read")
    return {
        "version": f"{version:#x}",
        "model_type": named(MODEL_TYPES, model_type),
        "model_type_number": model_type,
        "model_num": model_num,
        "wide": bool(long_length),
        "name": _text(name),
        "checksum": checksum.hex() if any(checksum) else None,
        "is_checksum": checked,
        "genmode": genmode,
        "ops": ops,
        "userdefineinfo": _text(user_info),
        "om_ir_version": ir_version,
        "platform_version": _text(platform),
        "platform_type": platform_type,
        "need_check_os_cpu_info": checks_host,
        "is_unknow_model": unknown_shape,
        "reserved": reserved.hex() if any(reserved) else None,
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
