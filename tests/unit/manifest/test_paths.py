from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow.errors import ManifestError
from ascendflow.manifest.paths import OutsideError, Places, locate, read_roots

if TYPE_CHECKING:
    from pathlib import Path


def test_roots_are_read_relative_to_the_repository(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.ascendflow.roots]\ndata = "/far/data"\nnear = "../weights"\n'
    )

    roots = read_roots(tmp_path)

    assert {name: str(root) for name, root in roots.items()} == {
        "data": "/far/data",
        "near": f"{tmp_path}/../weights",
    }


@pytest.mark.parametrize("text", [None, "", "[tool]\n", "[tool.ascendflow]\n"])
def test_repository_without_roots_has_none(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "pyproject.toml").write_text(text)

    assert read_roots(tmp_path) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("[tool", "cannot be read", id="no-toml"),
        pytest.param("[tool.ascendflow]\nroots = ['/x']\n", "must be a table", id="list"),
        pytest.param("[tool.ascendflow.roots]\ndata = 5\n", "got 5", id="number"),
        pytest.param("[tool.ascendflow.roots]\ndata = ''\n", "'data'", id="empty"),
        pytest.param(
            '[tool.ascendflow.roots]\na = "x\\u0000"\n', "cannot be followed", id="nul"
        ),
        pytest.param("[tool.ascendflow.roots]\na = '~nobody-1/x'\n", "home", id="nobody"),
        *(
            pytest.param(f"[tool.ascendflow.roots]\n{n} = 'x'\n", f"got '{n}'", id=n)
            for n in ("pipeline", "repository", "ascendflow")
        ),
        pytest.param("[tool.ascendflow.roots]\n'a:b' = '/x'\n", "'a:b'", id="colon"),
        pytest.param("tool = 5\n", "must be a table", id="tool-is-a-number"),
    ],
)
def test_wrong_roots_are_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)

    with pytest.raises(ManifestError, match=r"pyproject\.toml") as caught:
        read_roots(tmp_path)

    assert said in str(caught.value)


def test_root_does_not_open_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "data-other").mkdir()
    places = Places(tmp_path / "r" / "p", tmp_path / "r", {"data": tmp_path / "data"})

    assert locate("data:a/b.pt", places) == tmp_path.resolve() / "data" / "a" / "b.pt"
    with pytest.raises(OutsideError, match="leads out of the root 'data'"):
        locate("data:../data-other/b.pt", places)
    with pytest.raises(OutsideError, match="leads out of the root 'data'"):
        locate("data:/etc/passwd", places)


def test_repository_behind_a_link_holds_its_files(tmp_path: Path) -> None:
    (tmp_path / "real" / "pipelines" / "pan").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    places = Places(tmp_path / "link" / "pipelines" / "pan", tmp_path / "link", {})

    assert locate("det.onnx", places).name == "det.onnx"


def test_root_that_is_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    text = "[tool.ascendflow.roots]\ndata = 'loop'\n"
    (tmp_path / "pyproject.toml").write_text(text)

    with pytest.raises(ManifestError, match="'data' cannot be followed"):
        read_roots(tmp_path)
