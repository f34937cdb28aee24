"""The store and the code of one place serve in another; the tool's version counts."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from tests.checkouts import ALL, FROM_LINT, PASSED

if TYPE_CHECKING:
    from pathlib import Path

    from tests.checkouts import Checkout

BACKEND = "ascendflow/backends/emulator/backend.py"


def test_store_copied_to_a_clone_elsewhere_holds_all_that_it_needs(
    checkout: Checkout, fresh: Checkout
) -> None:
    """Only the store is copied: no index, no database of doit, no build folder."""
    shutil.copytree(
        checkout.path(".ascendflow/store"), fresh.path(".ascendflow/store"), symlinks=True
    )
    run = fresh.doit("model=toy")

    assert fresh.folder != checkout.folder
    assert (run.code, run.executed, run.restored) == (0, [], ALL)
    assert run.text.endswith(f"{PASSED}\n")
    assert fresh.outputs() == checkout.outputs()


def test_new_version_of_the_emulator_reruns_convert_and_what_follows(
    checkout: Checkout,
) -> None:
    """Goldens and all else before it are kept, and undone it runs nothing."""
    checkout.inject(
        "convert",
        "from dataclasses import replace",
        "from ascendflow.backends.emulator.backend import EMULATOR_VERSION",
        "ctx = replace(ctx, config={**ctx.config, 'emulator': EMULATOR_VERSION})",
    )
    first = checkout.doit()
    before = checkout.outputs()
    checkout.edit(BACKEND, "EMULATOR_VERSION = 1", "EMULATOR_VERSION = 2")
    bumped = checkout.doit()
    checkout.edit(BACKEND, "EMULATOR_VERSION = 2", "EMULATOR_VERSION = 1")
    undone = checkout.doit()

    assert first.code == bumped.code == undone.code == 0
    assert "convert:toy  (code of ascendflow changed" in bumped.text
    assert {"convert", "infer", "compare", "evaluate"} <= set(bumped.executed)
    assert set(bumped.executed) <= set(FROM_LINT)
    assert {"golden", "samples", "export"}.isdisjoint(bumped.restored)
    assert undone.executed == []
    assert checkout.outputs() == before


def test_copy_of_a_checkout_reads_the_roots_beside_itself(
    fresh: Checkout, tmp_path: Path
) -> None:
    """What is kept in `build/` and says where roots lie speaks of the first place."""
    data = fresh.folder.parent / "data"
    data.mkdir()
    (data / "width").write_text("3")
    with fresh.path("pyproject.toml").open("a") as file:
        file.write('\n[tool.ascendflow]\nroots = {data = "../data"}\n')
    fresh.path("pipelines/toy/strokes.py").write_text(
        "from pathlib import Path\n\n\ndef width():\n"
        "    return (Path(__file__).parents[3] / 'data/width').read_text()\n"
    )
    first = fresh.doit("samples:toy")
    place = tmp_path / "elsewhere"
    copy = fresh.copied_to(place / "checkout")
    (place / "data").mkdir()
    (place / "data/width").write_text("4")
    second = copy.doit("samples:toy")

    assert first.executed == second.executed == ["samples"]
    assert "data:width, which it read, changed" in second.text
