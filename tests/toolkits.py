"""A CANN that is none: the files of an installation around the stand-in of ATC."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Any

STANDIN = Path(__file__).parent / "standin" / "atc.py"
BESIDE_ATC = ("atc_operators.py", "atc_modes.py")
NPU_SMI = STANDIN.with_name("npu-smi")
DEVICE = Path(__file__).parent / "standin" / "device"
WRAPPER = """#!/bin/bash
here=$(dirname "$(readlink -f "$0")")
exec "$here/atc.bin" "$@"
"""
SET_ENV = """\
export ASCEND_TOOLKIT_HOME={root}
export LD_LIBRARY_PATH=${{ASCEND_TOOLKIT_HOME}}/lib64:$LD_LIBRARY_PATH
export PYTHONPATH=${{ASCEND_TOOLKIT_HOME}}/python/site-packages:$PYTHONPATH
export PATH=${{ASCEND_TOOLKIT_HOME}}/bin:$PATH
export ASCEND_OPP_PATH=${{ASCEND_TOOLKIT_HOME}}/opp
"""

BACKEND = """\
  backend: cann
  toolkit: {toolkit}
  python: {python}
"""


def make_toolkit(root: Path, version: str = "8.1.RC1", **said: str) -> Path:
    """Install the stand-in below `root`; `fault` and `format` are what it is told."""
    (root / "bin").mkdir(parents=True)
    (root / "bin" / "atc").write_text(WRAPPER)
    shutil.copy(STANDIN, root / "bin" / "atc.bin")
    for module in BESIDE_ATC:
        shutil.copy(STANDIN.with_name(module), root / "bin")
    for command in ("atc", "atc.bin"):
        (root / "bin" / command).chmod(0o755)
    (root / "set_env.sh").write_text(SET_ENV.format(root=root))
    arch = root / f"{os.uname().machine}-linux"
    arch.mkdir()
    info = f"package_name=Ascend-cann-toolkit\nversion={version}\narch={arch.name[:-6]}\n"
    (arch / "ascend_toolkit_install.info").write_text(info)
    for package in ("compiler", "opp", "runtime"):
        (root / package).mkdir()
        text = f"Version=7.7.0.1.238\nversion_dir={version}\ntimestamp=20250419\n"
        (root / package / "version.info").write_text(text)
    for name, text in said.items():
        (root / name).write_text(text)
    return root


def make_python(folder: Path) -> Path:
    """Make a `python3` that has a numpy, by name, and no ascendflow."""
    (folder / "site" / "numpy").mkdir(parents=True)
    (folder / "site" / "numpy" / "__init__.py").write_text('__version__ = "1.26.4"\n')
    (folder / "bin").mkdir()
    python = folder / "bin" / "python3"
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{folder}/site" exec {base} -S "$@"\n'
    )
    python.chmod(0o755)
    return python


def make_device(toolkit: Path, **said: Any) -> None:
    """Put a device into a toolkit: its acl, and what `standin_told.told` is to find."""
    site = toolkit / "python" / "site-packages"
    site.mkdir(parents=True, exist_ok=True)
    for module in DEVICE.glob("*.py"):
        shutil.copy(module, site)
    (toolkit / "device.json").write_text(json.dumps({"soc": "Ascend310P3", **said}))


def make_device_python(folder: Path, *, with_ais_bench: bool = True) -> Path:
    """Make a Python that has numpy, onnxruntime and ais_bench, and no ascendflow."""
    (folder / "site").mkdir(parents=True)
    if with_ais_bench:
        shutil.copytree(DEVICE / "ais_bench", folder / "site" / "ais_bench")
    shutil.copytree(DEVICE / "msprobe", folder / "site" / "msprobe")
    installed = sysconfig.get_path("purelib")  # not what a .pth file there names
    (folder / "bin").mkdir()
    python = folder / "bin" / "python3"
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    path = f"$PYTHONPATH:{folder}/site:{installed}"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec {base} -S "$@"\n')
    python.chmod(0o755)
    return python


def config(toolkit: Path, python: Path, **options: Any) -> dict[str, Any]:
    """Return a `convert` slice of the backend `cann` for one input `x` of [1, 4]."""
    return {
        "backend": "cann",
        "cann": "8.1",
        "soc_version": "Ascend310P3",
        "precision_mode": "force_fp16",
        "keep_dtype": [],
        "modify_mixlist": None,
        "customize_dtypes": {},
        "op_select_implmode": None,
        "optypelist_for_implmode": [],
        "is_weight_clip": None,
        "inputs": [{"name": "x", "dtype": "float32", "shape": [1, 4]}],
        "options": {
            "toolkit": os.fspath(toolkit),
            "python": os.fspath(python),
            **options,
        },
    }


def turn_to_cann(manifest: Path, toolkit: Path, python: Path) -> None:
    """Let a manifest as `init` writes it name this CANN, and no emulator or other CANN."""
    backend = BACKEND.format(toolkit=toolkit, python=python)
    before = r"  backend: (emulator.*|cann\n  toolkit: .*\n  python: .*)\n"
    text, turned = re.subn(before, lambda _: backend, manifest.read_text())
    assert turned == 1, text
    manifest.write_text(text)
