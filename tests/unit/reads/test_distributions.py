"""Installed files are named by their distribution."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

import numpy as np
import onnx
import pytest

from ascendflow.reads.distributions import distributions_of


def install(site: Path, metadata: str, **files: str) -> None:
    (site / metadata).mkdir(parents=True)
    for name, text in files.items():
        (site / metadata / name.replace("_txt", ".txt")).write_text(text)


def test_the_answer_agrees_with_importlib_metadata() -> None:
    by_module = importlib.metadata.packages_distributions()
    for module in (np, onnx, pytest):
        file = Path(str(module.__file__)).resolve()
        site = file.parent.parent
        expected = {
            re.sub(r"[-_.]+", "-", name).lower() for name in by_module[module.__name__]
        }

        assert distributions_of([str(file)], [str(site)]) == expected


def test_top_levels_come_from_the_list_or_else_from_the_record(tmp_path: Path) -> None:
    install(tmp_path, "Listed_One-1.0.dist-info", top_level_txt="listed\n")
    install(tmp_path, "recorded-2.0.dist-info", RECORD="../../bin/r,,\nrecorded/a.py,,\n")
    install(tmp_path, "single-3.0.dist-info", RECORD="single.py,,\n")
    install(tmp_path, "unused-4.0.dist-info", RECORD="../../bin/u,,\n\nunused/a.py,,\n")
    files = [f"{tmp_path}/{name}" for name in ("listed/x", "recorded/a.py", "single.py")]

    assert distributions_of(files, [str(tmp_path)]) == {"listed-one", "recorded", "single"}


def test_all_distributions_of_a_namespace_are_named(tmp_path: Path) -> None:
    install(tmp_path, "a-1.dist-info", RECORD="space/a.py,,\n")
    install(tmp_path, "b-1.dist-info", RECORD="space/b.py,,\n")

    assert distributions_of([f"{tmp_path}/space/a.py"], [str(tmp_path)]) == {"a", "b"}


def test_reading_metadata_names_no_distribution(tmp_path: Path) -> None:
    install(tmp_path, "a-1.dist-info", RECORD="a-1.dist-info/METADATA,,\na.py,,\n")

    assert distributions_of([f"{tmp_path}/a-1.dist-info/x"], [str(tmp_path)]) == set()


def test_a_file_that_nobody_claims_names_none(tmp_path: Path) -> None:
    install(tmp_path, "a-1.dist-info", RECORD="a.py,,\n")

    assert distributions_of([f"{tmp_path}/stray.py"], [str(tmp_path)]) == set()
