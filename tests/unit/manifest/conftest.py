"""A repository with one pipeline, whose manifest a test writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.manifest.load import LoadedManifest, load_manifest

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "model.py": "def build(**_): ...\n",
    "data.py": "def test_samples(**_): ...\n",
    "metric.py": "def mean_iou(outputs, samples, **_): ...\n",
    "weights.pt": "",
    "det.onnx": "",
}


@dataclass
class Repository:
    """One pipeline `pan` with the files that the manifests of the tests name."""

    path: Path
    data: Path

    @property
    def folder(self) -> Path:
        """The pipeline's folder."""
        return self.path / "pipelines" / "pan"

    def load(self, manifest: str | bytes, **overrides: Any) -> LoadedManifest:
        """Write the manifest and load it."""
        content = manifest if isinstance(manifest, bytes) else manifest.encode()
        file = self.folder / "manifest.yaml"
        file.write_bytes(content)
        roots = {"data": self.data}
        return load_manifest(file, repository=self.path, roots=roots, **overrides)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository", tmp_path / "data")
    made.folder.mkdir(parents=True)
    (made.data / "inputs").mkdir(parents=True)
    for name, text in FILES.items():
        (made.folder / name).write_text(text)
    (made.data / "weights.pt").touch()
    return made
