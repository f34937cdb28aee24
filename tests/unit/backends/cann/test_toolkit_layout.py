from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ascendflow.backends.cann import toolkit_layout as layout

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = "/cann/latest"
INFO = f"{ROOT}/aarch64-linux/ascend_toolkit_install.info"
CFG = f"{ROOT}/version.cfg"
COMPILER = f"{ROOT}/compiler/version.info"


def test_script_is_looked_for_inside_and_beside() -> None:
    assert layout.set_envs(ROOT, "aarch64") == (
        "/cann/latest/set_env.sh",
        "/cann/set_env.sh",
        "/cann/latest/aarch64-linux/script/set_env.sh",
    )
    assert layout.set_envs("/cann/latest/", None)[1] == "/cann/set_env.sh"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({INFO: {"version": "8.1.RC1"}, COMPILER: {"version_dir": "8.0.0"}}, "8.1.RC1"),
        ({INFO: {"version": "$VERSION"}, COMPILER: {"version_dir": "8.0.0"}}, "8.0.0"),
        ({COMPILER: {"version_dir": '"8.5.0"'}}, "8.5.0"),
        ({CFG: {"compiler_running_version": "[7.7.0.1.238:8.1.RC1]"}}, "8.1.RC1"),
        ({CFG: {"toolkit_running_version": "[7.6.0.1.220:8.0.0]"}}, "8.0.0"),
        ({CFG: {"toolkit_running_version": "8.0.0"}}, None),
        ({COMPILER: {"version_dir": "8" * 65 + ".1"}}, None),
        ({}, None),
    ],
)
def test_release_is_the_first_that_is_one(
    files: Mapping[str, Mapping[str, str]], found: str | None
) -> None:
    assert layout.release(ROOT, "aarch64", lambda path: files.get(path, {})) == found
