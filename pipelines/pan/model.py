"""A small Pyramid Attention Network for semantic segmentation.

Written from the paper's description: Li, Xiong, An, Wang, "Pyramid Attention Network
for Semantic Segmentation", 2018, arXiv:1805.10180. An encoder of strided convolutions
takes the place of the pretrained ResNet; the two modules of the paper are here:

- Feature Pyramid Attention weighs the deepest features by what larger and larger
  windows see, and adds what the whole image sees;
- Global Attention Upsample lets deeper features weigh the channels of shallower ones.

Every enlargement is bilinear with align_corners=False and doubles both sides: nine
`Resize` nodes in ONNX, whose sampling positions must be right for thin objects.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import fusion

WIDTHS = (16, 32, 64, 96)
"""Channels of the encoder at 1/2, 1/4, 1/8 and 1/16 of the input's size."""

DECODER_WIDTH = 32


def build(classes: int = 5) -> nn.Module:
    """Builds the network as it is shipped, without BatchNorm.

    Args:
        classes: Number of classes, the background included.

    Returns:
        A module from `image` [batch, 3, height, width] to {"logits": [batch, classes,
        height, width]}; height and width are multiples of 64.
    """
    return fold(PyramidAttentionNetwork(classes).eval())


def fold(network: nn.Module) -> nn.Module:
    """Folds each BatchNorm into the convolution before it, in place.

    The results are the same. torch's dynamo exporter alone cannot bring BatchNorm
    to opset 15.

    Args:
        network: In eval mode.

    Returns:
        The network given.
    """
    for block in network.modules():
        if isinstance(block, Block):
            block[0] = fusion.fuse_conv_bn_eval(block[0], block[1])
            block[1] = nn.Identity()
    return network


class Block(nn.Sequential):
    """Convolution that keeps the size (but for the stride), BatchNorm and ReLU."""

    def __init__(
        self, inputs: int, outputs: int, *, kernel: int = 3, stride: int = 1
    ) -> None:
        super().__init__(
            nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
        )


class PyramidAttentionNetwork(nn.Module):
    """Encoder, Feature Pyramid Attention, and a decoder of Global Attention Upsample.

    Each level of the decoder predicts; a coarser prediction is enlarged and added to
    the next finer one, so that the coarse levels need only be corrected.
    """

    def __init__(self, classes: int) -> None:
        super().__init__()
        inputs = (3, *WIDTHS)
        self.encoder = nn.ModuleList(
            nn.Sequential(Block(inputs[level], width, stride=2), Block(width, width))
            for level, width in enumerate(WIDTHS)
        )
        self.attention = FeaturePyramidAttention(WIDTHS[-1], DECODER_WIDTH)
        self.decoder = nn.ModuleList(
            GlobalAttentionUpsample(width, DECODER_WIDTH) for width in WIDTHS[-2::-1]
        )
        self.heads = nn.ModuleList(
            nn.Conv2d(DECODER_WIDTH, classes, kernel_size=1) for _ in WIDTHS
        )

    def forward(self, image: torch.Tensor) -> dict[str, torch.Tensor]:
        """Logits of every class at every pixel of `image`."""
        levels = []
        features = image
        for stage in self.encoder:
            features = stage(features)
            levels.append(features)
        features = self.attention(levels.pop())
        logits = self.heads[0](features)
        for upsample, head in zip(self.decoder, self.heads[1:], strict=True):
            features = upsample(levels.pop(), features)
            logits = head(features) + double(logits)
        return {"logits": double(logits)}


class FeaturePyramidAttention(nn.Module):
    """Pixel-wise attention from a pyramid of two halvings, plus a global branch."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.whole = Block(inputs, outputs, kernel=1)
        self.middle = Block(inputs, outputs, kernel=1)
        self.down = nn.ModuleList(
            [
                nn.Sequential(nn.MaxPool2d(2), Block(inputs, outputs, kernel=5)),
                nn.Sequential(nn.MaxPool2d(2), Block(outputs, outputs, kernel=3)),
            ]
        )
        self.side = nn.ModuleList(
            [
                Block(outputs, outputs, kernel=5),
                Block(outputs, outputs, kernel=3),
            ]
        )

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """[batch, inputs, h, w] to [batch, outputs, h, w]; h and w multiples of 4."""
        half = self.down[0](features)
        quarter = self.down[1](half)
        weight = double(self.side[0](half) + double(self.side[1](quarter)))
        whole = self.whole(whole_mean(features))
        return self.middle(features) * weight + whole


class GlobalAttentionUpsample(nn.Module):
    """Adds shallow features, their channels weighed by deep ones, to the deep ones."""

    def __init__(self, shallow: int, outputs: int) -> None:
        super().__init__()
        self.local = Block(shallow, outputs)
        self.weight = nn.Sequential(
            nn.Conv2d(outputs, outputs, kernel_size=1), nn.Sigmoid()
        )
        self.merge = Block(outputs, outputs)

    def forward(self, shallow: torch.Tensor, deep: torch.Tensor) -> torch.Tensor:
        """[batch, shallow, 2h, 2w] and [batch, outputs, h, w] to the former's size."""
        weight = self.weight(whole_mean(deep))
        return self.merge(self.local(shallow) * weight + double(deep))


def whole_mean(features: torch.Tensor) -> torch.Tensor:
    """Mean over height and width, [batch, channels, 1, 1]; both are multiples of 4.

    Two poolings: AI Core's kernel takes windows of up to 255 elements, and a plain
    `mean` becomes a ReduceMean of opset 18 that does not convert down to 15.
    """
    coarse = functional.avg_pool2d(features, 4)
    return functional.avg_pool2d(coarse, (coarse.shape[2], coarse.shape[3]))


def double(features: torch.Tensor) -> torch.Tensor:
    """Doubles height and width, bilinear, sampling between pixel centres."""
    return functional.interpolate(
        features, scale_factor=2, mode="bilinear", align_corners=False
    )
