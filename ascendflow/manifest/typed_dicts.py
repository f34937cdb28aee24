"""Makes TypedDicts readable to pydantic, which refuses `typing.TypedDict` before 3.12.

The documents are stdlib only, since stages name them; so their types are built again here,
from `typing_extensions`, on every Python alike.
"""

from __future__ import annotations

import types
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
)

import typing_extensions


def rebuilt(kind: Any, known: dict[Any, Any] | None = None) -> Any:
    """Return `kind` with every TypedDict in it built by typing_extensions.

    Args:
        kind: a type: TypedDict, list, dict, tuple, union, Literal or plain class.
        known: what is built already; keeps one type one definition.
    """
    known = {} if known is None else known
    if typing_extensions.is_typeddict(kind):
        if kind not in known:
            known[kind] = _typed_dict(kind, known)
        return known[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is None or origin is Literal:
        return kind
    if origin is Annotated:
        return Annotated[rebuilt(arguments[0], known), *kind.__metadata__]
    inner = tuple(rebuilt(each, known) for each in arguments)
    if origin in (Union, types.UnionType):
        return Union[inner]  # noqa: UP007 - of a tuple
    return origin[inner]


def _typed_dict(kind: Any, known: dict[Any, Any]) -> Any:
    """Build one TypedDict again; which keys are required is read from the hints.

    `__required_keys__` does not see a `NotRequired` that is a string, as with
    `from __future__ import annotations`.
    """
    fields = {}
    for name, hint in typing_extensions.get_type_hints(kind, include_extras=True).items():
        wrapper: Any = get_origin(hint)
        required = name in kind.__required_keys__
        if wrapper in (Required, NotRequired):
            required, hint = wrapper is Required, get_args(hint)[0]  # noqa: PLW2901
        inner = rebuilt(hint, known)
        fields[name] = inner if required else NotRequired[inner]
    # Made at run time, which type checkers cannot follow.
    make: Any = typing_extensions.TypedDict
    made = make(kind.__name__, fields)
    made.__doc__ = kind.__doc__
    made.__module__ = kind.__module__
    return made
