"""Scripts are those that CANN installs, with what they say of this test's folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascendflow.backends.cann.set_env import read_set_env
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from pathlib import Path

LIST = """\
export LD_LIBRARY_PATH=/driver/lib64:/driver/lib64/common:$LD_LIBRARY_PATH
export ASCEND_TOOLKIT_HOME=/usr/local/Ascend/ascend-toolkit/latest
export LD_LIBRARY_PATH=${ASCEND_TOOLKIT_HOME}/lib64:/opp/linux/$(arch):$LD_LIBRARY_PATH
export PYTHONPATH=${ASCEND_TOOLKIT_HOME}/python/site-packages:$PYTHONPATH
export PATH=${ASCEND_TOOLKIT_HOME}/bin:$PATH
export ASCEND_OPP_PATH=${ASCEND_TOOLKIT_HOME}/opp

# a comment
export ASCEND_HOME_PATH="${ASCEND_TOOLKIT_HOME}"
"""
SCRIPT = """\
# a licence
append_env() {
    local name="$1"
    local value="$2"
    local env_value="$(eval echo "\\${${name}}")"

    if [ "$env_value" = "" ]; then
        read -r $name <<EOF
$value
EOF
    else
        read -r $name <<EOF
$env_value:$value
EOF
    fi
    export $name
}

prepend_env() {
    local name="$1"
    local value="$2"
    local env_value="$(eval echo "\\${${name}}")"

    if [ "$env_value" = "" ]; then
        read -r $name <<EOF
$value
EOF
    else
        read -r $name <<EOF
$value:$env_value
EOF
    fi
    export $name
}

setenv_main() {
    local version_dirpath install_dirpath my_path
    local dep_hal_name="libascend_hal.so.of.nobody"
    local is_install_driver="n"
    local architecture

    version_dirpath="$(dirname "$(readlink -f "$BASH_SOURCE")")"
    install_dirpath="$(dirname "$version_dirpath")"

    my_ld_library_path="$LD_LIBRARY_PATH"
    if [ ! -z "$my_ld_library_path" ]; then
        for my_path in ${my_ld_library_path}; do
            if [ -d "$my_path" ]; then
                is_install_driver="y"
            fi
        done
    fi

    case ":$PATH:" in
        *:/sbin:*) ;;
        *) export PATH="$PATH:/sbin" ;;
    esac

    if command -v arch > /dev/null; then
        architecture="$(arch)"
    else
        architecture="$(uname -m)"
    fi

    prepend_env "PATH" "$version_dirpath/bin:$version_dirpath/tools/profiler/bin"
    prepend_env "LD_LIBRARY_PATH" "$version_dirpath/lib64:/opp/$architecture"
    # as older versions did
    export PYTHONPATH="$version_dirpath/python/site-packages:$PYTHONPATH"

    if [ "$is_install_driver" = "n" ]; then
        append_env "LD_LIBRARY_PATH" "$version_dirpath/devlib"
    fi

    export ASCEND_OPP_PATH="$version_dirpath/opp"
    export ASCEND_TOOLKIT_HOME="$version_dirpath"
    prepend_env "CMAKE_PREFIX_PATH" "$version_dirpath/lib64/cmake"
    prepend_env "CMAKE_PREFIX_PATH" "$version_dirpath/toolkit/lib/cmake"
}

setenv_main "$@"
"""


def read(text: str, *, folder: str = "/cann", has_driver: bool = False) -> dict[str, str]:
    return read_set_env(
        text, file="set_env.sh", folder=folder, arch="aarch64", has_driver=has_driver
    )


def test_list_of_exports_is_read_from_an_empty_start() -> None:
    home = "/usr/local/Ascend/ascend-toolkit/latest"

    assert read(LIST) == {
        "LD_LIBRARY_PATH": (
            f"{home}/lib64:/opp/linux/aarch64:/driver/lib64:/driver/lib64/common"
        ),
        "ASCEND_TOOLKIT_HOME": home,
        "PYTHONPATH": f"{home}/python/site-packages",
        "PATH": f"{home}/bin",
        "ASCEND_OPP_PATH": f"{home}/opp",
        "ASCEND_HOME_PATH": home,
    }


def test_script_of_functions_is_read_for_its_own_folder() -> None:
    assert read(SCRIPT) == {
        "PATH": "/cann/bin:/cann/tools/profiler/bin",
        "LD_LIBRARY_PATH": "/cann/lib64:/opp/aarch64:/cann/devlib",
        "PYTHONPATH": "/cann/python/site-packages",
        "ASCEND_OPP_PATH": "/cann/opp",
        "ASCEND_TOOLKIT_HOME": "/cann",
        "CMAKE_PREFIX_PATH": "/cann/toolkit/lib/cmake:/cann/lib64/cmake",
    }


def test_driver_makes_the_stand_in_library_needless() -> None:
    assert read(SCRIPT, has_driver=True)["LD_LIBRARY_PATH"] == "/cann/lib64:/opp/aarch64"


@pytest.mark.parametrize("script", [LIST, SCRIPT], ids=["list", "script"])
def test_bash_comes_to_the_same(tmp_path: Path, script: str) -> None:
    if (bash := shutil.which("bash")) is None:
        pytest.skip("bash is not installed")
    file = tmp_path.resolve() / "set_env.sh"
    file.write_text(script)
    done = subprocess.run(
        [bash, "-c", f"PATH=/sbin:/bin:/usr/bin; . {file}; /usr/bin/env"],
        env={},
        capture_output=True,
        text=True,
        check=True,
    )
    seen = dict(line.split("=", 1) for line in done.stdout.splitlines())

    ours = read_set_env(
        script,
        file="set_env.sh",
        folder=str(file.parent),
        arch=os.uname().machine,
        has_driver=False,
    )
    seen["PATH"] = seen["PATH"].removesuffix(":/sbin:/bin:/usr/bin")
    # bash leaves a gap where a variable was not set, which means the working folder
    assert {name: seen[name].strip(":") for name in ours} == ours


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("source other.sh", "source other.sh"),
        ("export A=$(cat /etc/passwd)", "$(cat"),
        ("export A=`id`", "`id`"),
        ("export A=/driver/lib64: /driver/common", "/driver/lib64: /driver/common"),
        ("export A=$unknown/lib", "$unknown"),
        ("export A='single'", "'single'"),
        ("export A=${B:-c}", "${B:-c}"),
        ("export A=a;rm", "a;rm"),
        ("export A", "export A"),
        ("rm -rf /", "rm -rf /"),
        ("other() {", "other() {"),
        ("if true; then", "if true; then"),
    ],
)
def test_line_that_is_not_understood_is_named(line: str, shown: str) -> None:
    with pytest.raises(StageError, match="is not understood") as caught:
        read(LIST + line + "\n")

    assert caught.value.message.startswith("set_env.sh:10: is not understood: ")
    assert repr(shown)[1:-1] in caught.value.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('*) export PATH="$PATH:/sbin" ;;', '*) export PATH="$PATH:/else" ;;'),
        ('[ "$is_install_driver" = "n" ]', '[ "$something" = "n" ]'),
        ('append_env "LD_LIBRARY_PATH" "$version_dirpath/devlib"', "append_env $A $B"),
        ('"$(dirname "$(readlink -f "$BASH_SOURCE")")"', '"$(pwd)"'),
        ('export ASCEND_OPP_PATH="$version_dirpath/opp"', "eval $something"),
        ('    architecture="$(arch)"', "    export A=1"),
        ('\n}\n\nsetenv_main "$@"', '\n\nsetenv_main "$@"'),
    ],
)
def test_script_that_changed_is_refused(old: str, new: str) -> None:
    assert old in SCRIPT

    with pytest.raises(StageError, match=r"set_env\.sh:\d+: is not understood"):
        read(SCRIPT.replace(old, new, 1))


def test_function_without_end_is_refused() -> None:
    with pytest.raises(StageError, match=r"set_env\.sh:1: .*function that does not end"):
        read("append_env() {\n    export $name\n")


@pytest.mark.parametrize("text", ["", "# nothing\n", "\n\n"])
def test_script_that_exports_nothing_is_no_set_env(text: str) -> None:
    with pytest.raises(StageError, match="exports nothing"):
        read(text)


LINES = [*LIST.splitlines(), *SCRIPT.splitlines()]


@given(st.lists(st.sampled_from(LINES) | st.text(max_size=30), max_size=30))
def test_any_text_is_read_or_refused(lines: list[str]) -> None:
    try:
        exported = read("\n".join(lines))
    except StageError:
        return
    assert all("$" not in value and " " not in value for value in exported.values())
