"""What the stand-in device is told to be, and to do wrong."""

from __future__ import annotations

import json
import os


def told(name, default=None):
    """Return what `device.json` says under `name`."""
    path = os.path.join(os.environ["ASCEND_TOOLKIT_HOME"], "device.json")
    if not os.path.exists(path):
        return default
    with open(path, encoding="utf-8") as file:
        return json.load(file).get(name, default)
