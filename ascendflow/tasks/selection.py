"""Which models were asked for: a name, a comma list or a glob; absent: all."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from doit.exceptions import InvalidDodoFile

from ascendflow.terminal import told

if TYPE_CHECKING:
    from pathlib import Path

PIPELINES = "pipelines"
MANIFEST = "manifest.yaml"


def all_models(repository: Path) -> list[str]:
    """Name every folder below `pipelines/` that holds a manifest, sorted.

    Raises:
        OSError: `pipelines/` cannot be listed.
    """
    folder = repository / PIPELINES
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return sorted(name for name in names if _has_manifest(folder / name))


def _has_manifest(folder: Path) -> bool:
    """Whether a manifest is there, though it may be one that cannot be read."""
    try:
        os.lstat(folder / MANIFEST)
    except PermissionError:
        return True
    except OSError:  # no folder, or a loop of links
        return False
    return True


def select_models(models: list[str], wanted: str | None) -> list[str]:
    """Pick from `models` what `model=` names, in the order of `models`.

    Raises:
        InvalidDodoFile: a name or glob matches nothing, or there are no models at all.
    """
    wanted = "*" if wanted is None else wanted
    patterns = [pattern.strip() for pattern in wanted.split(",") if pattern.strip()]
    unmatched = [p for p in patterns if not any(fnmatchcase(name, p) for name in models)]
    if unmatched or not patterns:
        raise refusal("\n".join(_no_such_model(p, models) for p in unmatched or [wanted]))
    return [name for name in models if any(fnmatchcase(name, p) for p in patterns)]


def refusal(message: str) -> InvalidDodoFile:
    """Make doit's error of a message, which may quote what a terminal would obey."""
    return InvalidDodoFile(told(message))


def _no_such_model(name: str, models: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, models, n=1)
    if near:
        hint = f"did you mean {near[0]!r}?"
    elif models:
        hint = f"there are {', '.join(models)}"
    else:
        hint = "there are none yet: run `ascendflow init MODEL`"
    return f"model={name}: there is no {PIPELINES}/{name}/{MANIFEST}\n  hint: {hint}"
