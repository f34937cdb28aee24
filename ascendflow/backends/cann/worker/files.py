"""The files that a worker and its caller speak in."""

from __future__ import annotations

import hashlib
import json
from typing import Any

JOB, ANSWERS = "job.json", "answers.jsonl"
FOLDER = ".ascendflow"
"""At home on a board; each run has a folder in it."""
LOOK, SEEN, DIGESTS = "look.json", "seen.json", "digests.json"


def read(name: str) -> Any:
    """Read a JSON file."""
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def write(name: str, content: Any) -> int:
    """Write a JSON file."""
    with open(name, "w", encoding="utf-8") as file:
        json.dump(content, file)
    return 0


def digested(path: str) -> tuple[int, str]:
    """Return a file's size and digest."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        block = file.read(1 << 20)
        while block:
            digest.update(block)
            block = file.read(1 << 20)
        return file.tell(), digest.hexdigest()
