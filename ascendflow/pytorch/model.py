"""Builds the user's model, the same one in every stage that needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.errors import StageError
from ascendflow.factories import load_factory, users_code
from ascendflow.pytorch.weights import load_weights

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import torch


def build_model(
    folder: Path, source: Mapping[str, Any], weights: Path | None, seed: int
) -> torch.nn.Module:
    """Call the factory, load the weights, and switch to inference on the CPU.

    Args:
        folder: the model's pipeline folder.
        source: `module`, `factory`, `arguments` and, with weights, `weights`: `key` and
            `strip_prefix`.
        weights: the file of weights, or None where the factory brings its own.
        seed: set before the factory runs, so that parameters it draws are the same in
            each stage.

    Raises:
        StageError: the factory raises or returns no module, or the weights do not fit.
    """
    import torch

    where = f"{source['module']}:{source['factory']}"
    factory = load_factory(folder, source["module"], source["factory"])
    with users_code(where):
        _seed(seed)
        model = factory(**(source.get("arguments") or {}))
    if not isinstance(model, torch.nn.Module):
        raise StageError(
            f"{where} returned a {type(model).__name__}, not a torch.nn.Module",
            hint="return the model itself, not a class or a state dict",
        )
    if weights is not None:
        how = source.get("weights") or {}
        load_weights(
            model, weights, key=how.get("key"), strip_prefix=how.get("strip_prefix")
        )
    return model.cpu().eval().requires_grad_(requires_grad=False)


def training_part(model: torch.nn.Module) -> str | None:
    """Name the first module that is in training mode, e.g. "'head.drop' (Dropout)".

    One without parts of its own, if there is any: train() reaches all below it.
    """
    found = [each for each in model.named_modules() if each[1].training]
    leaves = (each for each in found if next(each[1].children(), None) is None)
    name, module = next(leaves, found[0] if found else ("", None))
    if module is None:
        return None
    return f"{name!r} ({type(module).__name__})" if name else type(module).__name__


def _seed(seed: int) -> None:
    import random

    import numpy as np
    import torch

    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - what users' factories draw from
    torch.manual_seed(seed)
