"""Packs schemas/ into the wheel as ascendflow/schemas; all else is in pyproject.toml."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithSchemas(build_py):
    """Copies once the package is in place; an editable install reads the checkout's."""

    def run(self) -> None:
        """Build the package, then add the schemas."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "ascendflow", "schemas")
            shutil.copytree("schemas", target, dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithSchemas})
