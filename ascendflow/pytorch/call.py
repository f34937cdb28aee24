"""How a model is called: the manifest's inputs held against forward()'s parameters."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from inspect import Parameter
from typing import TYPE_CHECKING, Any

from ascendflow.errors import StageError
from ascendflow.manifest.problems import closest_or_all
from ascendflow.pytorch.arrays import to_torch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    import torch

_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_NAMELESS = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class Call:
    """How a model is called with the inputs that the manifest names.

    Attributes:
        positional: inputs passed by position, in order.
        named: inputs passed by keyword, after a parameter that keeps its default.
        note: what a reader must know of it, or None.
    """

    positional: tuple[str, ...]
    named: tuple[str, ...]
    note: str | None = None

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

    def by_parameter(
        self, model: torch.nn.Module, of_input: Callable[[str], Any]
    ) -> dict[str, Any]:
        """Return forward()'s parameter -> what `of_input` says of the input it takes.

        `*args` gets a tuple, as torch.export wants it.
        """
        named = {name: name for name in self.named}
        bound = inspect.signature(model.forward).bind(*self.positional, **named)
        return {
            parameter: tuple(map(of_input, taken))
            if isinstance(taken, tuple)
            else of_input(taken)
            for parameter, taken in bound.arguments.items()
        }


def call_of(model: torch.nn.Module, inputs: Sequence[str]) -> Call:
    """Match the manifest's inputs with the parameters of the model's forward().

    Inputs that all bear names of parameters go where those are, whatever order the
    manifest lists them in. If none does, they go by position, which is noted.

    Raises:
        StageError: some do and some do not, so a name is misspelt.
    """
    parameters = _parameters(model)
    unknown = [name for name in inputs if name not in parameters]
    if not unknown:
        return _by_name(parameters, inputs)
    if len(unknown) < len(inputs):
        free = [name for name in parameters if name not in inputs]
        raise StageError(
            f"forward({', '.join(parameters)}) has no parameter "
            f"{', '.join(map(repr, unknown))}, but does have the manifest's other inputs",
            hint="; ".join(f"{name!r}: {_advice(name, free)}" for name in unknown),
            keys=("inputs",),
        )
    places = [name for name, kind in parameters.items() if kind in _BY_POSITION]
    pairs = ", ".join(f"{a!r} -> {b}" for a, b in zip(inputs, places, strict=False))
    note = f"inputs are taken by position: {pairs}" if pairs else None
    return Call(tuple(inputs), (), note)


def _advice(name: str, free: Sequence[str]) -> str:
    if not free:
        return "remove it from `inputs`, or add the parameter to forward"
    return closest_or_all(name, free)


def _parameters(model: torch.nn.Module) -> dict[str, object]:
    """Return name and kind of each; none for `*args`, which take whatever comes."""
    try:
        signature = inspect.signature(model.forward)
    except (TypeError, ValueError):  # what is not written in Python may have none
        return {}
    kinds = {name: each.kind for name, each in signature.parameters.items()}
    return {name: kind for name, kind in kinds.items() if kind not in _NAMELESS}


def _by_name(parameters: Mapping[str, object], inputs: Sequence[str]) -> Call:
    """Pass by position as far as no parameter is left out, the rest by keyword."""
    names = list(parameters)
    leading = 0
    while leading < len(names) and names[leading] in inputs:
        if parameters[names[leading]] not in _BY_POSITION:
            break
        leading += 1
    rest = tuple(name for name in names[leading:] if name in inputs)
    return Call(tuple(names[:leading]), rest)
