"""pyACL's numbers: types, and the codes that its calls return.

Source: the runtime's documents of pyACL.
"""

from __future__ import annotations

from typing import Any

from .refused import RefusedError

ACL_TYPES = dict(enumerate(("float32", "float16", "int8", "int32", "uint8")))
ACL_TYPES.update({6: "int16", 7: "uint16", 8: "uint32", 9: "int64", 10: "uint64"})
ACL_TYPES.update({11: "float64", 12: "bool", 27: "bfloat16"})

ACL_ERRORS = dict.fromkeys(range(100012, 100017), "the model's file")
ACL_ERRORS.update(dict.fromkeys((200000, 207001), "no memory on the device"))
ACL_ERRORS.update(
    {
        100000: "a bad parameter",
        100001: "acl is not initialised",
        100002: "acl is initialised already",
        100003: "a file",
        100011: "no such model",
        100017: "an input mismatch",
        107001: "no such device",
        107002: "no context",
        145002: "the model's path",
        145006: "the OM's size",
        145013: "no such batch",
    }
)


def checked(name: str, result: Any) -> Any:
    """Return what a call of pyACL gives beside its `ret`, which must be 0."""
    value, ret = result if isinstance(result, tuple) else (None, result)
    if ret != 0:
        why = ACL_ERRORS.get(
            ret, "an inner error" if ret == 245000 or ret >= 500000 else "see its log"
        )
        raise RefusedError(f"{name} gave {ret}: {why}")
    return value
