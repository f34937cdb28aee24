"""Between numpy arrays and torch tensors, and between a model's result and its outputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    import torch

ONLY_OUTPUT = "output"


def to_torch(array: np.ndarray) -> torch.Tensor:
    """Copy an array into a tensor of the same dtype and shape (bfloat16 by its bits)."""
    import numpy as np
    import torch

    owned = np.array(array, order="C")
    if owned.dtype.name == "bfloat16":
        return torch.from_numpy(owned.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(owned)


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """Copy a tensor into an array of the same dtype and shape (bfloat16 by its bits)."""
    import numpy as np
    import torch

    plain = tensor.detach().cpu().contiguous()
    if plain.dtype == torch.bfloat16:
        import ml_dtypes

        bits: np.ndarray = plain.view(torch.int16).numpy()
        return np.array(bits.view(ml_dtypes.bfloat16))
    return np.array(plain.numpy())


def named_outputs(result: Any, taken: Iterable[str] = ()) -> dict[str, torch.Tensor]:
    """Flatten what a model returned, in the order in which exporters do.

    A lone tensor is called "output"; in a tuple or list its position, in a mapping or
    dataclass its key, makes the name: "output_0", "logits", "features.1". None, which
    exporters drop, is left out, but counts as a position.

    Args:
        result: tensors, nested in tuples, lists, mappings and dataclasses.
        taken: names that the inputs have; "_output" is appended to an output of that name.

    Raises:
        StageError: something in it is no tensor, or there is none at all.
    """
    found = dict(_leaves(result, ()))
    if not found:
        raise StageError(
            "the model returns no tensor", hint="return what is to be compared"
        )
    names = set(taken)
    return {f"{k}_output" if k in names else k: tensor for k, tensor in found.items()}


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, torch.Tensor]]:
    import torch

    if isinstance(value, torch.Tensor):
        yield _name(path), value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, str(key)))
    elif isinstance(value, (tuple, list)):
        for position, inner in enumerate(value):
            yield from _leaves(inner, (*path, str(position)))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _leaves(getattr(value, field.name), (*path, field.name))
    elif value is not None:
        raise StageError(
            f"the model returns a {type(value).__name__} at {_name(path)!r}, not a tensor",
            hint="return tensors alone, nested in tuples, lists or dicts",
        )


def _name(path: tuple[str, ...]) -> str:
    if not path:
        return ONLY_OUTPUT
    return ".".join(path) if not path[0].isdecimal() else f"{ONLY_OUTPUT}_" + ".".join(path)
