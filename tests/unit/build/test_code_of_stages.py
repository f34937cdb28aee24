"""An edit of ascendflow reruns the stages whose code it is, and no others.

Decided by digests alone, on a copy of the real package; nothing runs.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from ascendflow.cache.code import CodeDigests
from ascendflow.cache.index import Index
from ascendflow.plan import modules_of
from ascendflow.reads.names import PACKAGE
from ascendflow.stages import STAGES, load_stage

if TYPE_CHECKING:
    from pathlib import Path

ALL = {name for name, _ in STAGES}
WITH_BACKEND = {"convert", "infer", "compare"}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the package, to be edited and put right again."""
    copy = tmp_path_factory.mktemp("code") / "ascendflow"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def digests(package: Path) -> dict[str, str]:
    index = Index(package.parent / "index.tsv")
    code = CodeDigests(package, index, package.parent / "code.json")
    configs = {
        name: {"backend": "emulator"} if name in WITH_BACKEND else {} for name in ALL
    }
    return {
        name: code.of(modules_of(load_stage(name), configs[name])).digest for name in ALL
    }


def rerun_by(package: Path, file: str, edit: str) -> set[str]:
    """Append `edit` to a file; returns the stages whose code is another then."""
    path = package / file
    old = path.read_text()
    before = digests(package)
    path.write_text(old + edit)
    after = digests(package)
    path.write_text(old)
    return {name for name in ALL if before[name] != after[name]}


NEW_CODE = "\n\ndef _new() -> int:\n    return 1\n"


@pytest.mark.parametrize(
    ("file", "reruns"),
    [
        ("errors.py", ALL),
        ("stages/__main__.py", ALL),
        ("stages/stage.py", ALL),
        ("child/seeds.py", ALL),
        ("child/command.py", ALL),  # its environment, its hash seed
        ("reads/tracker.py", ALL),
        ("metrics/sums.py", {"compare", "contrast"}),  # cosine similarity and most others
        ("metrics/divergence.py", {"compare", "contrast"}),
        ("metrics/registry.py", {"compare", "report"}),  # which way is better
        ("metrics/divergent.py", {"compare", "gate", "report", "contrast"}),
        ("metrics/thresholds.py", {"gate"}),
        ("graph/rules/resize_half_pixel.py", {"rewrite", "check", "lint"}),
        ("cann/soc.py", {"lint", *WITH_BACKEND}),
        ("cann/deviations/resize_half_pixel.py", {"lint", *WITH_BACKEND}),
        ("stages/comparison.py", {"compare"}),
        ("report/findings.py", {"lint"}),
        ("backends/emulator/run.py", WITH_BACKEND),
        # Nothing that a child runs.
        ("build/bring_up.py", set()),
        ("cache/store.py", set()),
        ("cli.py", set()),
        ("manifest/load.py", set()),
        ("tasks/action.py", set()),
        *((f"stages/{name}.py", {name}) for name, _ in STAGES),
    ],
)
def test_edited_module_reruns_the_stages_that_use_it(
    package: Path, file: str, reruns: set[str]
) -> None:
    assert rerun_by(package, file, NEW_CODE) == reruns


@pytest.mark.parametrize(
    "edit", ["\n# a comment\n", "\n\n\n", '\n"""A string that does nothing."""\n'][:2]
)
def test_comment_or_layout_reruns_nothing(package: Path, edit: str) -> None:
    assert rerun_by(package, "errors.py", edit) == set()


def test_docstring_reruns_nothing(package: Path) -> None:
    path = package / "errors.py"
    old = path.read_text()
    before = digests(package)
    path.write_text(old.replace('"""Every error', '"""All and every error'))
    after = digests(package)
    path.write_text(old)

    assert path.read_text().startswith('"""Every error')
    assert before == after
