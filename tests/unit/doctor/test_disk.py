from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow.doctor import disk
from tests.findings import told
from tests.hosts import GB

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts import Host


@pytest.mark.parametrize(
    ("free", "found"),
    [
        (5 * GB, []),
        (
            4 * GB,
            ["warning: /tmp (temporary files): 4.0 GB free; a large model may not fit"],
        ),
        (GB // 2, ["error: /tmp (temporary files): 0.50 GB free, 1 GB is needed"]),
        (0, ["error: /tmp (temporary files): 0.00 GB free, 1 GB is needed"]),
        (None, ["warning: /tmp (temporary files): free space cannot be told"]),
    ],
)
def test_little_space_is_told_by_folder(
    host: Host, free: int | None, found: list[str]
) -> None:
    def free_bytes(folder: Path) -> int | None:
        return free if folder == host.root / "tmp" else 100 * GB

    host.settings["free_bytes"] = free_bytes

    assert told(disk.check(host.facts())) == found
    assert {each["backend"] for each in disk.check(host.facts())} <= {"emulator"}
    assert [each["free_bytes"] for each in disk.spaces(host.machine())] == [100 * GB, free]
