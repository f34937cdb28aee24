from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ascendflow.cache import syntax
from ascendflow.cache.code import CodeDigest, CodeDigests
from ascendflow.cache.index import Index
from ascendflow.errors import AscendflowError

if TYPE_CHECKING:
    from pathlib import Path

    from ascendflow.cache.syntax import Syntax

PACKAGE = {
    "__init__.py": '"""The package."""\n__version__ = "1"\n',
    "errors.py": '"""Errors."""\n\n\nclass Wrong(Exception):\n    """Wrong."""\n',
    "models.py": "LIMIT = 3\n",
    "metrics/__init__.py": "from shop.metrics.error import error\n\nMETRICS = (error,)\n",
    "metrics/error.py": "def error(a, b):\n    # why\n    return a - b\n",
    "metrics/cosine.py": "def cosine(a, b):\n    return a * b\n",
    "stages/__init__.py": 'STAGES = (("a", "shop.stages.a:A"), ("b", "shop.stages.b:B"))\n',
    "stages/stage.py": "class Stage:\n    pass\n",
    "stages/a.py": "from shop.errors import Wrong\nfrom .stage import Stage\n",
    "stages/b.py": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from shop import models\n"
        "def run():\n    from shop.metrics import cosine\n    return cosine.cosine(1, 1)\n"
    ),
    "stages/c.py": "from shop.metrics import METRICS\nimport numpy\nimport shopping\n",
}


class Shop:
    """A small package on disk, digested by a fresh process's worth of objects each time."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "shop"
        self.state = folder / "state"
        for name, text in PACKAGE.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def digests(self) -> CodeDigests:
        return CodeDigests(self.root, Index(self.state / "index"), self.state / "code.json")

    def of(self, *modules: str) -> CodeDigest:
        return self.digests().of([f"shop.{module}" for module in modules])

    def modules(self, *modules: str) -> set[str]:
        return {name.removeprefix("shop.") for name in self.of(*modules).modules}


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_imports_are_followed_relative_ones_too(shop: Shop) -> None:
    assert shop.modules("stages.a") == {"stages.a", "stages.stage", "errors"}


def test_imports_in_functions_count_and_those_for_types_do_not(shop: Shop) -> None:
    assert shop.modules("stages.b") == {"stages.b", "metrics.cosine"}


def test_the_files_of_a_digest_are_those_of_all_its_modules(shop: Shop) -> None:
    files = set(shop.digests().files_of(["shop.stages.c", "shop.stages.a"]))

    assert files == {
        str(shop.root / name)
        for name in (
            *("stages/c.py", "metrics/__init__.py", "metrics/error.py"),
            *("stages/a.py", "stages/stage.py", "errors.py"),
        )
    }


def test_a_package_counts_only_where_a_name_defined_in_it_is_imported(shop: Shop) -> None:
    assert shop.modules("stages.c") == {"stages.c", "metrics", "metrics.error"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("import shop.errors", {"errors"}, id="import"),
        pytest.param("import shop.errors as e", {"errors"}, id="import-as"),
        pytest.param(
            "from shop import errors, models", {"errors", "models"}, id="from-package"
        ),
        pytest.param("from .. import models", {"models"}, id="two-dots"),
        pytest.param(
            "from ..metrics.error import error", {"metrics.error"}, id="two-dots-path"
        ),
        pytest.param("from shop import __version__", {"shop"}, id="name-of-the-package"),
        pytest.param("import shop", {"shop"}, id="package-itself"),
        pytest.param("from shop.errors import *", {"errors"}, id="star"),
        pytest.param(
            "try:\n  import shop.errors\nexcept ImportError: pass", {"errors"}, id="try"
        ),
        pytest.param(
            "class A:\n  def f(s):\n    import shop.models", {"models"}, id="method"
        ),
        pytest.param("M = 'shop.errors:Wrong'", set(), id="string"),
        pytest.param("import os, shopping.errors", set(), id="other-packages"),
        pytest.param(
            "import typing\nif typing.TYPE_CHECKING:\n  import shop.errors\n"
            "else:\n  import shop.models",
            {"models"},
            id="else-of-types",
        ),
        pytest.param(
            "if not TYPE_CHECKING:\n  import shop.errors", {"errors"}, id="not-for-types"
        ),
    ],
)
def test_each_spelling_of_an_import_names_what_it_loads(
    shop: Shop, text: str, found: set[str]
) -> None:
    shop.write("stages/d.py", text + "\n")

    assert shop.modules("stages.d") - {"stages.d"} == found


def test_a_dot_in_a_package_means_the_package_itself(shop: Shop) -> None:
    shop.write("metrics/__init__.py", "from .error import error as METRICS\n")

    assert shop.modules("stages.c") == {"stages.c", "metrics", "metrics.error"}


def test_a_name_that_is_a_submodule_and_defined_in_the_package_counts_as_both(
    shop: Shop,
) -> None:
    shop.write("stages/d.py", "from shop.metrics import error\n")

    assert shop.modules("stages.d") == {"stages.d", "metrics.error", "metrics"}


def test_modules_that_import_each_other_are_digested_once(shop: Shop) -> None:
    shop.write("x.py", "def f():\n    import shop.y\n")
    shop.write("y.py", "def f():\n    import shop.x\n")

    assert shop.modules("x") == shop.modules("y") == {"x", "y"}
    assert shop.of("x").digest == shop.of("y").digest


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        pytest.param("metrics/error.py", "# why", "# another reason\n", id="comment"),
        pytest.param("metrics/error.py", "a - b", "(a   -\n b)", id="layout"),
        pytest.param("errors.py", '"""Wrong."""', '"""Very wrong."""', id="docstring"),
        pytest.param("metrics/cosine.py", "a * b", "a / b", id="module-not-imported"),
        pytest.param("stages/stage.py", "pass", "x = 1", id="sibling"),
        pytest.param(
            "stages/__init__.py", "STAGES", "LADDER", id="package-not-imported-from"
        ),
    ],
)
def test_what_cannot_change_a_result_does_not_change_the_digest(
    shop: Shop, name: str, old: str, new: str
) -> None:
    shop.write("stages/c.py", PACKAGE["stages/c.py"] + "import shop.errors\n")
    before = shop.of("stages.c")
    shop.replace(name, old, new)

    assert shop.of("stages.c") == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        pytest.param("stages/c.py", "numpy", "numbers", id="itself"),
        pytest.param("metrics/__init__.py", "METRICS", "METRICS = NAMES", id="package"),
        pytest.param("metrics/error.py", "a - b", "b - a", id="imported-by-the-package"),
    ],
)
def test_body_change_invalidates_cache(shop: Shop, name: str, old: str, new: str) -> None:
    before = shop.of("stages.c").digest
    shop.replace(name, old, new)

    assert shop.of("stages.c").digest != before


def test_a_module_that_is_renamed_changes_the_digest(shop: Shop) -> None:
    shop.write("stages/d.py", "from shop.errors import Wrong\n")
    before = shop.of("stages.d").digest
    (shop.root / "errors.py").rename(shop.root / "faults.py")
    shop.write("stages/d.py", "from shop.faults import Wrong\n")

    assert shop.of("stages.d").digest != before


def test_the_place_of_the_checkout_does_not_change_the_digest(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()

    assert Shop(tmp_path / "a").of("stages.c") == Shop(tmp_path / "b").of("stages.c")


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Name the files that are parsed, as they are."""
    names: list[str] = []
    read_syntax = syntax.read_syntax

    def noted(source: bytes, path: str) -> Syntax:
        names.append(os.path.basename(path))
        return read_syntax(source, path)

    monkeypatch.setattr(syntax, "read_syntax", noted)
    return names


def test_an_up_to_date_run_parses_nothing_and_reads_nothing(
    shop: Shop, parsed: list[str]
) -> None:
    shop.of("stages.a", "stages.b")
    first = len(parsed)
    index = Index(shop.state / "index")
    later = CodeDigests(shop.root, index, shop.state / "code.json")
    later.of(["shop.stages.a", "shop.stages.b"])

    assert (
        len(parsed) == first == 6
    )  # a, stage, errors; b, cosine, and what metrics defines
    assert index.hashed_files == 0


def test_an_edit_parses_one_file_and_its_undoing_none(
    shop: Shop, parsed: list[str]
) -> None:
    shop.of("stages.a")
    parsed.clear()
    shop.replace("errors.py", "Exception", "ValueError")
    shop.of("stages.a")
    shop.write("errors.py", PACKAGE["errors.py"])
    shop.of("stages.a")

    assert parsed == ["errors.py"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"header": [], "entries": {}}', '{"header": 1, "entries": 2}'],
)
def test_a_damaged_cache_is_ignored(shop: Shop, text: str) -> None:
    before = shop.of("stages.a")
    (shop.state / "code.json").write_text(text)

    assert shop.of("stages.a") == before


def test_what_another_python_unparsed_is_not_used(
    shop: Shop, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.of("stages.a")
    parsed.clear()
    monkeypatch.setattr("sys.version", "3.99")
    shop.of("stages.a")

    assert len(parsed) == 3


def test_a_file_that_is_not_python_is_an_error_with_its_line(shop: Shop) -> None:
    shop.write("errors.py", "x = 1\ndef (\n")

    with pytest.raises(
        AscendflowError, match=r"errors\.py:2: cannot be parsed: invalid syntax"
    ):
        shop.of("stages.a")


def test_a_module_that_is_not_there_is_an_error_that_says_where(shop: Shop) -> None:
    with pytest.raises(AscendflowError, match=r"module shop\.nowhere is not in .*shop"):
        shop.of("nowhere")


def test_an_import_of_a_module_that_is_not_there_is_an_error_with_its_line(
    shop: Shop,
) -> None:
    shop.write("stages/a.py", "\nfrom shop.nowhere import x\n")

    with pytest.raises(AscendflowError, match=r"a\.py:2: imports shop\.nowhere, not found"):
        shop.of("stages.a")
