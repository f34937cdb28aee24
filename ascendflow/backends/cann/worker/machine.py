"""What is here, for a caller on another machine: what is installed, what has arrived."""

from __future__ import annotations

import os
import platform

from .files import DIGESTS, LOOK, SEEN, digested, read, write


def look() -> int:
    """Tell what `look.json` asks about this machine: files, and what it is."""
    seen = {}
    for path in read(LOOK)["files"]:
        if os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                seen[path] = {"text": file.read(1 << 20), "real": os.path.realpath(path)}
    found = {"files": seen, "arch": platform.machine(), "folder": os.getcwd()}
    found["drivers"] = [path for path in read(LOOK)["drivers"] if os.path.exists(path)]
    kept = read(LOOK)["kept"]
    found["environment"] = {key: os.environ[key] for key in kept if key in os.environ}
    return write(SEEN, found)


def digests() -> int:
    """Tell how much of each file has arrived, and its digest."""
    found = {}
    for folder, _, names in os.walk("."):
        for path in [os.path.join(folder, name) for name in names]:
            found[os.path.relpath(path)] = digested(path)
    return write(DIGESTS, found)
