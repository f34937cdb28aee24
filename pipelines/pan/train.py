"""Trains the network and writes `weights.pt`; README.md tells what it reached.

    python train.py [--steps 1000] [--weights weights.pt]

One thread and fixed seeds: the same machine and the same torch give the same weights.
Nothing of the test split is read here, neither its photographs nor its seeds.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

import photos
from data import normalise
from model import PyramidAttentionNetwork, fold
from shapes import CLASSES, scene

SEED = 1_000_000  # training scene i is seeded by SEED + i: far from the test seeds
BATCH = 8
PEAK_RATE = 4e-3


def main() -> None:
    """Reads the arguments, trains, writes the state dict."""
    parser = argparse.ArgumentParser(description="Trains the pan pipeline's network.")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument(
        "--weights", type=Path, default=Path(__file__).with_name("weights.pt")
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = train(arguments.steps)
    torch.save(model.state_dict(), arguments.weights)


def train(steps: int) -> torch.nn.Module:
    """Trains from scratch by AdamW under a one-cycle rate; returns the folded network."""
    crops = photos.load("train")
    model = PyramidAttentionNetwork(len(CLASSES)).to(memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(model.parameters(), lr=PEAK_RATE, weight_decay=1e-3)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimiser, PEAK_RATE, total_steps=steps)
    started = time.monotonic()
    for step in range(steps):
        images, masks = batch(crops, step)
        loss = overlap_loss(model(images)["logits"], masks)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        rate.step()
        if step % 25 == 24:
            elapsed_s = time.monotonic() - started
            sys.stderr.write(f"step {step + 1} loss {loss.item():.3f} {elapsed_s:.0f} s\n")
    return fold(model.to(memory_format=torch.contiguous_format).eval())


def batch(crops: list[np.ndarray], step: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The scenes of one step: float32 [BATCH, 3, 192, 256], int64 [BATCH, 192, 256].

    The colour channels of the photographs are shuffled: there are few photographs, and
    none of them has a blue sky.
    """
    images, masks = [], []
    for index in range(step * BATCH, (step + 1) * BATCH):
        rng = np.random.default_rng(SEED + index)
        crop = crops[rng.integers(len(crops))]
        image, mask = scene(crop[..., rng.permutation(3)], rng)
        images.append(normalise(image))
        masks.append(mask)
    stacked = torch.from_numpy(np.stack(images)).to(memory_format=torch.channels_last)
    return stacked, torch.from_numpy(np.stack(masks).astype(np.int64))


def overlap_loss(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Cross entropy plus one minus the mean Dice overlap, which thin objects need."""
    one_hot = functional.one_hot(masks, logits.shape[1]).permute(0, 3, 1, 2)
    likely = logits.softmax(dim=1)
    overlap = (likely * one_hot).sum(dim=(0, 2, 3))
    total = (likely + one_hot).sum(dim=(0, 2, 3))
    dice = (2 * overlap + 1) / (total + 1)
    return functional.cross_entropy(logits, masks) + 1 - dice.mean()


if __name__ == "__main__":
    main()
