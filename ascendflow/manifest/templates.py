"""What `ascendflow init` writes into a new pipeline's folder."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ascendflow.manifest import opsets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ascendflow.manifest.onnx_file import ModelInput

SCHEMA_LINE = "# yaml-language-server: $schema=../../schemas/manifest.schema.json"

OPSET_COMMENT = (
    f"# Every CANN parses opset {opsets.SURE}; "
    f"{opsets.HIGHEST}, which has LayerNormalization, is parsed from "
    f"{'.'.join(map(str, opsets.FIRST_OPEN))} on."
)
AUTO_COMMENT = "   # all that the target needs; the report lists them"

CANN = (8, 1)
"""The release that a new pipeline is for."""

_BITS_END = 2
"""What integers end at where nothing is known of them."""

_LONGEST_KEY = 1024
"""Characters of a key without `?`, by YAML 1.2; quotes are among them."""

TARGET = f"""\
convert:
  backend: emulator   # computes what CANN is known to do; no NPU, no CANN needed
  cann: "{CANN[0]}.{CANN[1]}"
  soc_version: Ascend310P3
  precision_mode: force_fp16
gate:
  # Cosine similarity alone does not see scale: a million times the values would pass.
  outputs:
    "*": {{cosine_similarity: {{min: 0.999}}, relative_euclidean_distance: {{max: 0.05}}}}
"""


def onnx_manifest(
    model: str,
    source: str,
    inputs: Sequence[tuple[ModelInput, Sequence[int]]],
    tables: Mapping[str, int],
) -> str:
    """Spell a manifest for an ONNX file, with random samples.

    Args:
        model: its name.
        source: path of the ONNX file, as a manifest spells it.
        inputs: each input with the shape to build for.
        tables: input -> length of the table that it looks up.
    """
    lines = [SCHEMA_LINE, "schema_version: 1", f"model: {quoted(model)}"]
    lines += [f"source: {{onnx: {quoted(source)}}}", "inputs:"]
    for each, shape in inputs:
        sizes = ", ".join(map(str, shape))
        name = quoted(each.name)
        lines.append(f"  - {{name: {name}, dtype: {each.dtype}, shape: [{sizes}]}}")
    lines += [
        "# Random numbers show whether the target computes the same, not whether the model",
        "# still does its work. Real inputs are better: one .npz per sample, with an array",
        "# for each input, by its name; what the metric needs is named label.*, e.g.",
        "# label.mask.",
        '# samples: {files: "inputs/*.npz"}',
    ]
    lines += _random(inputs, tables)
    lines.append(f"rewrite: {{rules: auto}}{AUTO_COMMENT}")
    return "\n".join(lines) + "\n" + TARGET


def _random(
    inputs: Sequence[tuple[ModelInput, Sequence[int]]], tables: Mapping[str, int]
) -> list[str]:
    """Spell random samples; where the upper end of integers is a guess, say so."""
    ends = {
        each.name: _within(each.dtype, tables.get(each.name, _BITS_END))
        for each, _ in inputs
        if "int" in each.dtype
    }
    lines = ["# Integers are drawn from [low, high), the upper end not included."] * bool(
        ends
    )
    if guessed := ", ".join(quoted(name) for name in ends if name not in tables):
        placeholder = f"# [0, {_BITS_END}) is a placeholder, for {guessed}"
        lines.append(f"{placeholder}: write your vocabulary's size")
        lines.append("# there, or what else the values end at; a mask of 0 and 1 keeps it.")
    ranges = ", ".join(f"{_key(name)}: [0, {end}]" for name, end in ends.items())
    ranged = f", ranges: {{{ranges}}}" if ends else ""
    return [*lines, f"samples: {{random: {{seed: 0, count: 4{ranged}}}}}"]


def _within(dtype: str, end: int) -> int:
    """Return the end of a range, or of what `dtype` holds where that comes first."""
    bits = int(dtype.lstrip("uint"))
    return min(end, 1 << (bits - (dtype[0] == "i")))


def _key(text: str) -> str:
    """Spell a key, one that is too long for YAML to see that it is one as such."""
    spelled = quoted(text)
    return spelled if len(spelled) <= _LONGEST_KEY else f"? {spelled} "


def quoted(text: str) -> str:
    """Spell a string so that YAML reads it back as it is."""
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_./-]*", text, re.ASCII)
    words = ("true", "false", "null", "yes", "no", "on", "off", "y", "n")
    if plain and text.lower() not in words:
        return text
    # As it is read, but for what YAML takes for a line's end or may not hold; and JSON's
    # own escapes are halves of a character above U+FFFF, which YAML does not join.
    spelled = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in spelled)


def torch_manifest(model: str) -> str:
    """Spell a manifest for the model of `MODEL_PY`."""
    return f"""\
{SCHEMA_LINE}
schema_version: 1
model: {quoted(model)}
source:
  torch:
    module: model.py
    factory: build
    arguments: {{classes: 2}}
    # weights: {{file: weights.pt}}   your checkpoint; also key: and strip_prefix:
inputs:
  - {{name: image, dtype: float32, shape: [1, 3, 64, 96]}}   # what the target is built for
samples: {{module: data.py, factory: test_samples, arguments: {{count: 8}}}}
{OPSET_COMMENT}
export: {{opset: {opsets.highest_sure(CANN)}, exporter: dynamo, max_relative_error: 1e-3}}
rewrite: {{rules: auto}}{AUTO_COMMENT}
{TARGET}  metric: {{max_relative_drop: 0.01, against: onnx}}
evaluate: {{module: metric.py, factory: pixel_accuracy, direction: higher}}
"""


MODEL_PY = '''"""The model. Put yours here: `build` gives a torch.nn.Module."""

import torch
from torch import nn


class BrightParts(nn.Module):
    """Tells bright pixels from dark ones, at half the size and back: a stand-in."""

    def __init__(self, classes):
        super().__init__()
        self.down = nn.AvgPool2d(2)
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)
        self.head = nn.Conv2d(3, classes, kernel_size=1)
        with torch.no_grad():
            # No training here: class i answers to i times the brightness above one half.
            for i in range(classes):
                self.head.weight[i] = 4.0 * i
                self.head.bias[i] = -6.0 * i

    def forward(self, image):
        return self.head(self.up(self.down(image)))


def build(classes):
    return BrightParts(classes)
'''

DATA_PY = '''"""The samples. Put yours here: real inputs, prepared as in training."""

import numpy as np


def test_samples(count, height=64, width=96):
    """Give dark noise with one bright rectangle; the mask says where that is."""
    for index in range(count):
        rng = np.random.default_rng(index)
        image = rng.uniform(0.0, 0.4, (1, 3, height, width)).astype(np.float32)
        mask = np.zeros((1, height, width), dtype=np.uint8)
        top, left = rng.integers(0, height // 2), rng.integers(0, width // 2)
        area = np.s_[..., top : top + height // 3, left : left + width // 3]
        image[area] += np.float32(0.6)
        mask[area] = 1
        yield {
            "id": f"rectangle-{index:03d}",
            "feeds": {"image": image},  # an array per input of the manifest
            "labels": {"mask": mask},  # what metric.py needs
        }
'''

METRIC_PY = '''"""The end metric. Put yours here: one number for all samples together."""


def pixel_accuracy(outputs, samples):
    """Give the part of the pixels whose class is the label's."""
    right = total = 0
    for output, sample in zip(outputs, samples, strict=True):
        logits = output["output"]  # as forward returns it: a dict's key, else "output"
        mask = sample["labels"]["mask"]
        right += int((logits.argmax(axis=1) == mask).sum())
        total += mask.size
    return right / total
'''

TORCH_FILES = (("model.py", MODEL_PY), ("data.py", DATA_PY), ("metric.py", METRIC_PY))
