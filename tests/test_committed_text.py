"""What is committed must hold anywhere: no machine's paths, no registry's hosts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

# Spelled in pieces, since this file is committed too.
HOSTS = ("pypi" + ".org", "python" + "hosted", "npm" + "js.", "download." + "pytorch")
FOLDERS = ("work", "opt", "root", r"home/\w+", r"Users/\w+", "mnt")
FORBIDDEN = {
    "registry host": re.compile("|".join(map(re.escape, HOSTS))),
    "machine's own path": re.compile(rf"(?<![\w.~*>)}}\]-])/(?:{'|'.join(FOLDERS)})/\w"),
}


def _committed() -> list[Path]:
    """Return what git tracks; in a copy without git, every file but what was built."""
    done = subprocess.run(
        ["git", "-C", REPOSITORY, "ls-files", "-z"],
        capture_output=True,
        text=True,
        check=False,
    )
    if (REPOSITORY / ".git").exists() and done.returncode == 0:
        return [REPOSITORY / name for name in done.stdout.split("\0") if name]
    built = {".venv", ".venv.lock", ".cache", "build", ".ascendflow"}
    return [
        path
        for path in REPOSITORY.rglob("*")
        if path.is_file()
        and path.relative_to(REPOSITORY).parts[0] not in built
        and not re.search(r"/(__pycache__|\.\w+_cache)/", str(path))
    ]


def _findings(text: str) -> list[str]:
    return [
        f"line {number}: {what}: {found[0]}"
        for number, line in enumerate(text.splitlines(), 1)
        for what, pattern in FORBIDDEN.items()
        if (found := pattern.search(line))
    ]


def _text(path: Path) -> str | None:
    data = path.read_bytes()
    return None if b"\0" in data else data.decode(errors="replace")


def test_committed_text_names_no_machine_and_no_registry() -> None:
    findings = {
        str(path.relative_to(REPOSITORY)): found
        for path in _committed()
        if path.is_file() and (text := _text(path)) and (found := _findings(text))
    }

    assert findings == {}


@pytest.mark.parametrize(
    "line",
    [
        "index-url = https://" + HOSTS[0] + "/simple",
        "see /" + "work/notes.md",
        "path = '/" + "home/ann/model.pt'",
        "PATH=/" + "opt/wheels",
    ],
)
def test_machine_path_or_registry_host_is_reported(line: str) -> None:
    assert len(_findings(line)) == 1


@pytest.mark.parametrize(
    "line", ["build/" + "work/x", "../shared", "https://x.y/" + "root/z"]
)
def test_relative_path_or_address_is_not_reported(line: str) -> None:
    assert _findings(line) == []


def test_no_model_or_environment_is_committed() -> None:
    suffixes = {".onnx", ".om", ".emu", ".pyc", ".whl"}

    assert [path for path in _committed() if path.suffix in suffixes] == []
