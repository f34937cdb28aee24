"""Weights from a seed and BatchNorm statistics from images, the same on every machine.

Two things would make them differ in the last bits: torch draws normal numbers otherwise on
another instruction set, and sums in another order. So the weights are whole numbers of
numpy's PCG64, whose stream is fixed for good, scaled by exact arithmetic; and statistics
are taken in float64 and rounded to `STATISTIC_BITS`, far coarser than what another order of
summation changes. That leaves it very unlikely, not impossible, that one differs.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn

CONVOLUTION_DEVIATION = 0.15
"""Standard deviation of the weights of convolutions."""

STATISTIC_BITS = 12
"""Significant bits that statistics keep."""

_DRAWN_BITS = 24  # what float32 holds
_BatchNorm = (nn.BatchNorm1d, nn.BatchNorm2d)


def draw_weights(network: nn.Module, seed: int) -> None:
    """Draw the weights of convolutions and fully connected layers, uniformly, in place.

    Args:
        network: biases become 0, PReLU and BatchNorm keep what they start from.
        seed: not negative.
    """
    generator = np.random.PCG64(seed)
    for module in network.modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            deviation = CONVOLUTION_DEVIATION
            if isinstance(module, nn.Linear):
                deviation = 1 / math.sqrt(module.in_features)
                nn.init.zeros_(module.bias)
            drawn = generator.random_raw(module.weight.numel()) >> (64 - _DRAWN_BITS)
            unit = drawn.astype(np.float64) / 2 ** (_DRAWN_BITS - 1) - 1  # -1 to 1
            scaled = (unit * (deviation * math.sqrt(3))).astype(np.float32)
            with torch.no_grad():
                module.weight.copy_(torch.from_numpy(scaled).view_as(module.weight))


def calibrate(network: nn.Module, images: torch.Tensor) -> None:
    """Set the statistics of each BatchNorm to those of what it gets for `images`, in place.

    One pass: a layer is set just before it runs, so the layers after it get what they will
    get in use. Variances are biased, i.e. divided by the number of elements.

    Args:
        network: in eval mode; comes back in float32.
        images: [at least 2, ...], what `network` takes.
    """
    layers = [module for module in network.modules() if isinstance(module, _BatchNorm)]
    hooks = [layer.register_forward_pre_hook(_set_statistics) for layer in layers]
    with torch.no_grad():
        network.double()(images.double())
    network.float()
    for hook in hooks:
        hook.remove()


def _set_statistics(layer: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
    (features,) = inputs
    other_axes = [axis for axis in range(features.ndim) if axis != 1]
    variance, mean = torch.var_mean(features, other_axes, correction=0)
    layer.running_mean.copy_(_rounded(mean))
    layer.running_var.copy_(_rounded(variance))


def _rounded(numbers: torch.Tensor) -> torch.Tensor:
    mantissa, exponent = torch.frexp(numbers)
    return torch.ldexp((mantissa * 2**STATISTIC_BITS).round(), exponent - STATISTIC_BITS)
