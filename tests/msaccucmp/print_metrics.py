"""Prints what msaccucmp's ten algorithms print of each pair: TOOL FOLDER.

Runs by itself, and imports nothing of ours. FOLDER/golden and FOLDER/target hold .npy
files of the same names; the arrays go the way that the tool's own command takes.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, sys.argv[1])

from algorithm_manager.algorithm_manager import AlgorithmManager
from cmp_utils import utils

folder = Path(sys.argv[2])
rows = {}
with contextlib.redirect_stdout(io.StringIO()):
    manager = AlgorithmManager("", "all", "")
    for path in sorted((folder / "golden").iterdir()):
        golden, target = np.load(path), np.load(folder / "target" / path.name)
        arguments = {
            "my_output_dump_file": "target",
            "ground_truth_dump_file": "golden",
            "shape_type": utils.get_shape_type(golden.shape),
        }
        row, problems = manager.compare(target.flatten(), golden.flatten(), arguments)
        titles = manager.get_result_title()
        rows[path.stem] = dict(zip(titles, row, strict=True))
sys.stdout.write(json.dumps(rows))
