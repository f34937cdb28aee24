"""Builds the user's model, the same one in every stage that needs it."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ascendflow.errors import StageError
from ascendflow.factories import load_factory, users_code
from ascendflow.pytorch.arrays import to_torch
from ascendflow.pytorch.weights import load_weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
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


@dataclass(frozen=True)
class Call:
    """How a model is called with the inputs that the manifest names.

    Attributes:
        positional: inputs passed by position, in order.
        named: inputs passed by keyword, after a parameter that keeps its default.
    """

    positional: tuple[str, ...]
    named: tuple[str, ...]

    @property
    def order(self) -> tuple[str, ...]:
        """All inputs, in the order in which an exporter meets them."""
        return self.positional + self.named

    def arguments(
        self, feeds: Mapping[str, np.ndarray]
    ) -> tuple[tuple[torch.Tensor, ...], dict[str, torch.Tensor]]:
        """Return positional and keyword arguments that hold copies of `feeds`."""
        positional = tuple(to_torch(feeds[name]) for name in self.positional)
        return positional, {name: to_torch(feeds[name]) for name in self.named}


def call_of(model: torch.nn.Module, inputs: Sequence[str]) -> Call:
    """Match the manifest's inputs with the parameters of the model's forward().

    Inputs that all bear names of parameters go where those are, whatever order the
    manifest lists them in. Otherwise they go by position.
    """
    parameters = list(inspect.signature(model.forward).parameters)
    if not set(inputs) <= set(parameters):
        return Call(tuple(inputs), ())
    leading = 0
    while leading < len(parameters) and parameters[leading] in inputs:
        leading += 1
    rest = tuple(name for name in parameters[leading:] if name in inputs)
    return Call(tuple(parameters[:leading]), rest)


def _seed(seed: int) -> None:
    import random

    import numpy as np
    import torch

    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - what users' factories draw from
    torch.manual_seed(seed)
