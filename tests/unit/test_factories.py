from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from ascendflow.errors import ManifestError, StageError
from ascendflow.factories import load_factory, users_code

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def forget_user_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("afmodel", "afpart", "afparts", "afparts.io"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def write(folder: Path, text: str, name: str = "afmodel.py") -> None:
    (folder / name).write_text(text)


def test_factory_is_found_and_called_with_arguments(tmp_path: Path) -> None:
    write(tmp_path, "def build(classes):\n    return classes * 2\n")

    assert load_factory(tmp_path, "afmodel.py", "build")(classes=3) == 6


def test_module_finds_what_lies_beside_it(tmp_path: Path) -> None:
    write(tmp_path, "VALUE = 7\n", "afpart.py")
    write(tmp_path, "from afpart import VALUE\ndef build():\n    return VALUE\n")

    assert load_factory(tmp_path, "afmodel.py", "build")() == 7


def test_module_is_imported_once(tmp_path: Path) -> None:
    write(tmp_path, "def build():\n    pass\ndef other():\n    pass\n")
    first = load_factory(tmp_path, "afmodel.py", "build")
    second = load_factory(tmp_path, "afmodel.py", "other")

    assert first.__globals__ is second.__globals__


def test_unknown_factory_is_refused_listing_what_there_is(tmp_path: Path) -> None:
    write(
        tmp_path, "from os.path import join\nclass Net:\n    pass\ndef build():\n    pass\n"
    )
    with pytest.raises(StageError, match="defines no callable 'biuld'") as caught:
        load_factory(tmp_path, "afmodel.py", "biuld")

    assert caught.value.hint == "it defines: Net, build"


def test_missing_module_is_refused_listing_the_files(tmp_path: Path) -> None:
    write(tmp_path, "")
    with pytest.raises(StageError, match=r"modle\.py: no such file") as caught:
        load_factory(tmp_path, "modle.py", "build")

    assert caught.value.hint is not None
    assert "afmodel.py" in caught.value.hint


def test_module_that_raises_is_refused_with_its_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "raise ImportError('no skimage')\n")
    with pytest.raises(
        StageError, match=r"^afmodel.py:1, on import: ImportError: no skimage"
    ):
        load_factory(tmp_path, "afmodel.py", "build")

    assert "Traceback" in capsys.readouterr().err
    assert "afmodel" not in sys.modules


def test_module_that_would_hide_another_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "", "random.py")
    with pytest.raises(StageError, match="another Python module is called 'random'"):
        load_factory(tmp_path, "random.py", "build")


def test_module_with_a_syntax_error_is_refused_with_its_line(tmp_path: Path) -> None:
    write(tmp_path, "def build():\n    return (\n")
    with pytest.raises(
        StageError, match=r"^afmodel.py, on import: SyntaxError: .*afmodel.py, line 2"
    ):
        load_factory(tmp_path, "afmodel.py", "build")


def test_error_names_the_innermost_line_of_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "afparts").mkdir()
    write(
        tmp_path / "afparts", "import json\ndef of(text):\n    json.loads(text)\n", "io.py"
    )
    write(tmp_path, "from afparts.io import of\n\ndef build():\n    of('{')\n")
    build = load_factory(tmp_path, "afmodel.py", "build")

    with (
        pytest.raises(
            StageError, match=r"^afparts/io.py:3 \(of\), on a whim: JSONDecodeError: Expect"
        ),
        users_code("afmodel.py:build", "on a whim"),
    ):
        build()


def test_error_of_ours_passes_through_users_code() -> None:
    with pytest.raises(ManifestError), users_code("data.py:make"):
        raise ManifestError("ours")


def test_interrupt_passes_through_users_code() -> None:
    with pytest.raises(KeyboardInterrupt), users_code("data.py:make"):
        raise KeyboardInterrupt
