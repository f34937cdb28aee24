"""requirements.lock: whole, exact and public, for `./run` and for anyone's pip."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).resolve().parent.parent
LINES = [
    line
    for line in (REPOSITORY / "requirements.lock").read_text().splitlines()
    if line and not line.startswith("#")
]
TORCH = {line.partition("==")[0] for line in LINES if line.endswith("# torch")}
LOCK = dict(line.partition(" ")[0].split("==") for line in LINES)
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]

# What a CUDA build of torch pins by itself.
CUDA = re.compile(r"nvidia-|cuda-|triton$")


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.partition("=")[0])
def test_line_is_one_exact_public_version(line: str) -> None:
    assert re.fullmatch(r"[a-z0-9-]+==[0-9.]+(  # torch)?", line)
    assert line.partition("==")[0] == canonicalize_name(line.partition("==")[0])


@pytest.mark.parametrize("extra", ["runtime", "torch"])
def test_lock_satisfies_what_the_project_declares(extra: str) -> None:
    declared = (
        PROJECT["dependencies"]
        if extra == "runtime"
        else PROJECT["optional-dependencies"][extra]
    )

    for requirement in map(Requirement, declared):
        name = canonicalize_name(requirement.name)
        assert requirement.specifier.contains(LOCK[name]), requirement
        assert (name in TORCH) == (extra == "torch")


@pytest.mark.parametrize("name", LOCK)
def test_whatever_a_locked_package_needs_is_locked_too(name: str) -> None:
    try:
        needs = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        assert name in TORCH  # nothing else may be left out
        pytest.skip(f"{name} is not installed (ASCENDFLOW_NO_TORCH)")

    for need in map(Requirement, needs):
        if need.marker is not None and not need.marker.evaluate({"extra": ""}):
            continue
        needed = canonicalize_name(need.name)
        if name == "torch" and CUDA.match(needed):
            continue
        assert need.specifier.contains(LOCK[needed]), f"{name} needs {need}"
        assert name in TORCH or needed not in TORCH


@pytest.mark.parametrize("name", LOCK)
def test_installed_version_is_the_locked_one(name: str) -> None:
    try:
        installed = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed (ASCENDFLOW_NO_TORCH)")

    assert installed.partition("+")[0] == LOCK[name]
