"""Each content is hashed once: counted at `hashlib`, in the process of doit."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.checkouts import FROM_REWRITE, Checkout

if TYPE_CHECKING:
    from pathlib import Path

COUNT = """\
import hashlib, os
path = os.environ.get("HASHED")

class Sha256:
    def __init__(self, data=b"", real=hashlib.sha256, **_):
        self._real = real(data)
        self.update = self._real.update

    def hexdigest(self):
        digest = self._real.hexdigest()
        with open(path, "a") as file:
            file.write(digest + "\\n")
        return digest

def file_digest(file, name):
    return Sha256(file.read())

if path:
    hashlib.sha256, hashlib.file_digest = Sha256, file_digest
"""
"""`sitecustomize` of the doit process; children start isolated and do not see it."""


@pytest.fixture
def counted(checkout: Checkout) -> Checkout:
    checkout.path("sitecustomize.py").write_text(COUNT)
    return checkout


def hashed_by(checkout: Checkout, *arguments: str) -> Counter[str]:
    """Run doit and count, by digest, what it hashed of what lies in files by now."""
    log = checkout.folder.parent / "hashed"
    log.write_text("")
    assert checkout.doit(*arguments, HASHED=str(log)).code == 0
    return Counter(log.read_text().split())


def contents(*folders: Path) -> Counter[str]:
    """Count the files below some folders by the digest of their content."""
    return Counter(
        hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("record.json", "log.txt", "plan.json")
    )


def test_restored_cache_with_all_times_new_is_hashed_once_and_runs_nothing(
    counted: Checkout,
) -> None:
    for place, _, names in os.walk(counted.folder):
        for name in names:
            os.utime(os.path.join(place, name), (1, 1))
    hashed = hashed_by(counted, "model=toy")
    again = hashed_by(counted, "model=toy")
    run = counted.doit("model=toy")
    files = contents(counted.path("build"), counted.path("pipelines"))

    assert (run.executed, run.restored) == ([], [])
    assert len(files) > len(FROM_REWRITE)
    assert {digest: hashed[digest] for digest in files} == dict(files)
    assert not files.keys() & again.keys()


def test_one_fix_hashes_what_it_makes_once_and_nothing_else(counted: Checkout) -> None:
    counted.doit("model=toy")
    before = contents(counted.path("build"), counted.path("pipelines"))
    counted.edit("pipelines/toy/manifest.yaml", "[resize-half-pixel]", "[]")
    hashed = hashed_by(counted, "model=toy")
    made = contents(counted.path("build"), counted.path("pipelines")) - before

    assert len(made) >= len(FROM_REWRITE)
    assert {digest: hashed[digest] for digest in made} == dict(made)
    assert not (before.keys() - made.keys()) & hashed.keys()
