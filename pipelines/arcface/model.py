"""An IResNet for face embeddings, as ArcFace uses it, with weights from a seed.

Written from the description in Deng, Guo, Xue, Zafeiriou, "ArcFace: Additive Angular Margin
Loss for Deep Face Recognition", 2018, arXiv:1801.07698: units BN-Conv-BN-PReLU-Conv-BN, a
first convolution that keeps the size, a head BN-Dropout-FC-BN. 18 layers, a quarter as wide
as usual.

Nobody trained it: it shows how such a model is taken to the target, and recognises nobody.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from data import images
from seeded import calibrate, draw_weights

DEPTHS = (2, 2, 2, 2)
"""Units of each of the four stages, which halve height and width each."""

WIDTHS = (16, 32, 64, 128)
"""Channels of each stage."""

EMBEDDING = 512

SIDE = 112
"""Height and width of the input, in pixels."""


def build(*, seed: int = 0, calibrated: bool = True) -> nn.Module:
    """Build the network with the same weights, bit by bit, on every machine.

    Args:
        seed: of the weights.
        calibrated: set the statistics of BatchNorm to those of the samples. False leaves
            mean 0 and variance 1, as after loading a state dict without them: then the
            activations grow beyond what float16 holds.

    Returns:
        A module in eval mode from `image` [batch, 3, 112, 112], RGB from -1 to 1, to
        {"embedding": [batch, 512]}, each row of length 1.
    """
    network = IResNet().eval()
    draw_weights(network, seed)
    if calibrated:
        calibrate(network, torch.from_numpy(images()))
    return network


class IResNet(nn.Module):
    """Stem, four stages of `Unit`, head; `forward` normalises what the head gives."""

    def __init__(
        self,
        depths: tuple[int, ...] = DEPTHS,
        widths: tuple[int, ...] = WIDTHS,
        embedding: int = EMBEDDING,
    ) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, widths[0], 3, padding=1, bias=False),
            nn.BatchNorm2d(widths[0]),
            nn.PReLU(widths[0]),
        )
        inputs = (widths[0], *widths)
        self.stages = nn.Sequential(
            *(
                stage(inputs[index], width, depth)
                for index, (width, depth) in enumerate(zip(widths, depths, strict=True))
            )
        )
        side = SIDE >> len(widths)
        self.head = nn.Sequential(
            nn.BatchNorm2d(widths[-1]),
            nn.Dropout(0.4),  # nothing in eval mode
            nn.Flatten(),
            nn.Linear(widths[-1] * side * side, embedding),
            nn.BatchNorm1d(embedding),
        )

    def forward(self, image: torch.Tensor) -> dict[str, torch.Tensor]:
        """[batch, 3, 112, 112] to {"embedding": [batch, embedding]} of length 1."""
        features = self.head(self.stages(self.stem(image)))
        return {"embedding": functional.normalize(features)}


def stage(inputs: int, outputs: int, depth: int) -> nn.Sequential:
    """`depth` units, of which the first halves height and width."""
    rest = (Unit(outputs, outputs) for _ in range(depth - 1))
    return nn.Sequential(Unit(inputs, outputs, stride=2), *rest)


class Unit(nn.Module):
    """The improved residual unit: no activation after the sum, none on the shortcut."""

    def __init__(self, inputs: int, outputs: int, *, stride: int = 1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.BatchNorm2d(inputs),
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.PReLU(outputs),
            nn.Conv2d(outputs, outputs, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride > 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """[batch, inputs, h, w] to [batch, outputs, h / stride, w / stride]."""
        return self.body(features) + self.shortcut(features)
