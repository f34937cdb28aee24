from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hosts import Host

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A machine with a Python beside ascendflow's, and nothing of CANN."""
    host = Host(tmp_path)
    host.python()
    return host


@pytest.fixture
def whole(host: Host) -> Host:
    """A machine with everything: CANN 8.1.RC1, a device, ais_bench, msprobe."""
    from tests.hosts import WHOLE

    tools = {"ais_bench": "0.0.2", "aclruntime": "0.0.2", "mindstudio-probe": "26.2.0"}
    host.python(packages={**WHOLE, **tools})
    host.toolkit()
    host.device()
    host.environment["PATH"] += ":/usr/local/Ascend/ascend-toolkit/latest/compiler/bin"
    return host
