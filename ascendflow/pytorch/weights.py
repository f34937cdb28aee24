"""Puts a file of weights into a model: strictly, and without unpickling classes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ascendflow.errors import StageError
from ascendflow.pytorch.safetensors import read_safetensors

if TYPE_CHECKING:
    from pathlib import Path

    import torch

SHOWN = 5
"""How many keys of each kind a message lists."""
_CLASS = re.compile(r"GLOBAL (\S+)")


def load_weights(
    model: torch.nn.Module, path: Path, *, key: str | None, strip_prefix: str | None
) -> None:
    """Fill every parameter and buffer of `model` from `path`.

    Args:
        model: changed in place.
        path: a state dict saved by torch.save, or a .safetensors file.
        key: where in the file the state dict is, if it is not the whole file.
        strip_prefix: taken off the keys that begin with it, e.g. "module.".

    Raises:
        StageError: the file holds something else than tensors, or its keys and shapes are
            not exactly the model's; the first of each kind are listed.
    """
    state = _state_dict(_read(path), path.name, key)
    if strip_prefix:
        state = _stripped(state, strip_prefix, path.name)
    problems = _differences(model.state_dict(), state)
    if problems:
        raise StageError(
            f"{path.name} does not fit the model: " + "; ".join(problems),
            hint=_prefix_hint(model.state_dict(), state),
        )
    model.load_state_dict(state, strict=True)


def _read(path: Path) -> Any:
    """Read the file, refusing whatever is not plain tensors in containers."""
    import torch

    if path.suffix == ".safetensors":
        return read_safetensors(path)
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        found = _CLASS.search(str(error))
        what = f"an object of class {found[1]}" if found else str(error).partition("\n")[0]
        raise StageError(
            f"{path.name} cannot be loaded as weights alone: {what}",
            hint="re-save it where the class is known: "
            'torch.save(model.state_dict(), "weights.pt")',
        ) from error


def _state_dict(loaded: Any, name: str, key: str | None) -> dict[str, torch.Tensor]:
    """Find the mapping of names to tensors."""
    import torch

    if key is not None:
        if not isinstance(loaded, Mapping) or key not in loaded:
            raise StageError(f"{name} has no key {key!r}", hint=_what_is_there(loaded))
        loaded = loaded[key]
    good = isinstance(loaded, Mapping) and all(
        isinstance(k, str) and isinstance(v, torch.Tensor) for k, v in loaded.items()
    )
    if not good or not loaded:
        where = f"{name}: {key!r}" if key else name
        raise StageError(
            f"{where} is not a state dict of tensors",
            hint=f"name the state dict's place as `key`; {_what_is_there(loaded)}",
        )
    return dict(loaded)


def _stripped(
    state: dict[str, torch.Tensor], prefix: str, name: str
) -> dict[str, torch.Tensor]:
    if not any(key.startswith(prefix) for key in state):
        raise StageError(
            f"{name}: no key begins with strip_prefix {prefix!r}",
            hint=f"its keys are: {_first(state)}",
        )
    stripped = {key.removeprefix(prefix): tensor for key, tensor in state.items()}
    if len(stripped) != len(state):
        raise StageError(f"{name}: without {prefix!r}, two keys are the same")
    return stripped


def _differences(
    wanted: Mapping[str, torch.Tensor], state: Mapping[str, torch.Tensor]
) -> list[str]:
    """Say what is missing, left over and of another shape."""
    missing = [key for key in wanted if key not in state]
    unexpected = [key for key in state if key not in wanted]
    shapes = [
        f"{key} {list(state[key].shape)} for {list(wanted[key].shape)}"
        for key in wanted
        if key in state and state[key].shape != wanted[key].shape
    ]
    kinds = (("missing", missing), ("unexpected", unexpected), ("of another shape", shapes))
    return [f"{len(keys)} {kind}: {_first(keys)}" for kind, keys in kinds if keys]


def _prefix_hint(wanted: Mapping[str, Any], state: Mapping[str, Any]) -> str:
    """Suggest strip_prefix where taking one off would make keys fit."""
    for key in state:
        prefix, dot, rest = key.partition(".")
        if dot and rest in wanted:
            return f"the keys would fit with strip_prefix: {prefix + dot!r}"
    return "check the factory's arguments against those of the training"


def _what_is_there(loaded: Any) -> str:
    if isinstance(loaded, Mapping):
        return f"the keys there are: {_first(loaded)}"
    return f"the file holds a {type(loaded).__name__}"


def _first(keys: Any) -> str:
    names = [str(key) for key in keys]
    more = f", ... ({len(names)} in all)" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
