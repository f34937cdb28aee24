"""What a device makes of a picture before the model, by the file that ATC was given.

Only what tests ask for: RGB888, a swap of red and blue, mean and scale.
"""

from __future__ import annotations

import re

import numpy as np

OTHERS = ("crop", "csc_switch", "padding", "ax_swap_switch")


def prepared(picture, text):
    """Make float32 of (n, c, h, w) of a picture, uint8 of (n, h, w, c)."""
    said = dict(re.findall(r"(\w+): (\S+)", text))
    if said["input_format"] != "RGB888_U8" or "true" in [said[key] for key in OTHERS]:
        raise RuntimeError("this stand-in has no such AIPP: " + text)
    if said["rbuv_swap_switch"] == "true":
        picture = picture[..., ::-1]
    planes = picture.astype(np.float32).transpose(0, 3, 1, 2)
    for channel in range(3):
        plane = planes[:, channel]
        plane -= np.float32(said["min_chn_" + str(channel)])
        plane *= np.float32(said["var_reci_chn_" + str(channel)])
    return planes
