from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow.cache.index import Index
from ascendflow.cache.syntax_cache import SyntaxCache
from ascendflow.errors import AscendflowError

if TYPE_CHECKING:
    from pathlib import Path


def test_file_edited_between_its_digest_and_its_parsing_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "module.py"
    module.write_text("LIMIT = 1\n")
    index = Index(tmp_path / "index")
    digest = index.digest

    def digest_and_edit(path: str) -> str:
        found = digest(path)
        if path == str(module):
            module.write_text("LIMIT = 2\n")
        return found

    monkeypatch.setattr(index, "digest", digest_and_edit)
    cache = SyntaxCache(tmp_path / "code.json", index)
    with pytest.raises(AscendflowError, match=r"module\.py was edited just now"):
        cache.of(str(module))
    cache.save()

    assert not (tmp_path / "code.json").exists()
