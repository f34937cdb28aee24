"""Machines made of a folder: what a test says is installed there, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ascendflow.doctor.facts import Asked, look
from ascendflow.doctor.interpreter import FOR_KERNELS
from ascendflow.doctor.machine import Machine, Ran

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ascendflow.doctor.facts import Facts

GB = 10**9
LATEST = "/usr/local/Ascend/ascend-toolkit/latest"
KERNELS = f"{LATEST}/opp/built-in/op_impl/ai_core/tbe/config"
PYTHON = "/usr/bin/python3"
DRIVER = "/usr/local/Ascend/driver"
NPU_SMI = "/usr/local/bin/npu-smi"
OWN = "/users/ann/flow/.venv"
OWN_PACKAGES = {
    "doit": "0.37.0",
    "onnx": "1.23.2",
    "onnx-ir": "1.1.0",
    "onnxsim": "0.8.1",
    "onnxruntime": "1.32.0",
    "pydantic": "2.14.1",
    "jsonschema": "4.26.0",
    "ruamel.yaml": "0.19.1",
    "numpy": "2.4.6",
    "rich": "15.0.0",
    "jinja2": "3.1.6",
    "torch": "2.13.0+cpu",
    "onnxscript": "0.7.2",
}
WHOLE = {"numpy": "1.24.4", **dict.fromkeys(FOR_KERNELS, "1.0")}
"""What CANN's guides ask for."""

LISTING = """\
+------------------------------------------------------------------------------------------+
| npu-smi 24.1.1                   Version: 24.1.1                                         |
+-------------------+-----------------+----------------------------------------------------+
| NPU     Name      | Health          | Power(W)   Temp(C)           Hugepages-Usage(page) |
| Chip    Device    | Bus-Id          | AICore(%)  Memory-Usage(MB)                        |
+===================+=================+====================================================+
| 0       310P3     | OK              | 16.2       42                0    / 0              |
| 0       0         | 0000:86:00.0    | 0          994  / 21534                            |
+===================+=================+====================================================+
"""


class Host:
    """A machine below a folder; commands answer what the test says."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.answers: dict[str, Ran] = {}
        self.ran: list[tuple[Sequence[str], Mapping[str, str]]] = []
        self.settings: dict[str, Any] = {}
        self.environment = {"PATH": f"{OWN}/bin:/usr/bin:/bin", "HOME": "/users/ann"}

    def write(self, path: str, text: str | bytes = "x", mode: int = 0o644) -> Path:
        """Write a file."""
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        file.chmod(mode)
        return file

    def program(self, path: str, output: str = "", problem: str | None = None) -> None:
        """Write a program that prints `output`."""
        self.write(path, "#!/bin/false\n", 0o755)
        self.answers[path] = Ran(output, problem)

    def python(
        self,
        python: str = "3.10.12",
        packages: Mapping[str, str | None] = WHOLE,
        *,
        path: str = PYTHON,
        prefix: str = "/usr",
        machine: str = "x86_64",
        broken: str = "",
        ours: bool = False,
    ) -> None:
        """Install a Python."""
        answer = {
            "python": python,
            "prefix": prefix,
            "machine": machine,
            "packages": dict(packages),
            "broken": broken,
            "ours": ours,
        }
        self.program(path, f"noise\nascendflow-doctor {json.dumps(answer)}\n")

    def toolkit(
        self, version: str = "8.1.RC1", *, root: str = LATEST, arch: str = "x86_64"
    ) -> None:
        """Install a CANN with the files that 8.1.RC1 has."""
        for package in ("compiler", "opp", "runtime"):
            text = f"Version=7.7.0.1.238\nversion_dir={version}\ntimestamp=20250401\n"
            self.write(f"{root}/{package}/version.info", text)
        text = (
            f"package_name=Ascend-cann-toolkit\nversion={version}\narch={arch}\nos=linux\n"
        )
        self.write(f"{root}/{arch}-linux/ascend_toolkit_install.info", text)
        running = f"toolkit_running_version=[7.7.0.1.238:{version}]\n"
        self.write(f"{root}/version.cfg", f"# version\n{running}")
        self.write(f"{root}/opp/scene.info", f"os=linux\nos_version=5.4\narch={arch}\n")
        self.write(f"{root}/compiler/bin/atc", "#!/bin/bash\n", 0o755)
        self.write(f"{root.rpartition('/')[0]}/set_env.sh", "export A=b\n")
        for soc in ("Ascend310P3", "Ascend910B4"):
            self.write(f"{root}/{arch}-linux/data/platform_config/{soc}.ini", "[version]\n")
        kernels = f"{root}/opp/built-in/op_impl/ai_core/tbe/config"
        self.write(f"{kernels}/ascend310p/aic-ascend310p-ops-info.json", "{}")

    def device(self, listing: str = LISTING) -> None:
        """Install a driver with one device."""
        self.write(f"{DRIVER}/version.info", "Version=24.1.1\npackage_version=24.1.1\n")
        self.write("/dev/davinci0", "")
        self.write("/dev/davinci_manager", "")
        self.program(NPU_SMI, listing)

    def machine(self) -> Machine:
        """Return the machine as it is now."""
        machine = Machine(
            environment=self.environment,
            arch="x86_64",
            folder="/users/ann/flow",
            temporary="/tmp",  # noqa: S108 - below `root`
            python=(3, 12, 4),
            prefix=OWN,
            packages=OWN_PACKAGES,
            run=self._run,
            free_bytes=lambda _: 100 * GB,
            root=self.root,
        )
        return replace(machine, **self.settings)

    def facts(self, **asked: str) -> Facts:
        """Look at it."""
        return look(self.machine(), Asked(**asked))

    def _run(self, argv: Sequence[str], environment: Mapping[str, str]) -> Ran:
        self.ran.append((argv, environment))
        return self.answers[argv[0].removeprefix(str(self.root))]
