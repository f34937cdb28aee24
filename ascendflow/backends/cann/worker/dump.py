"""The dump: acl is asked for it before an OM is loaded, and its files are told afterwards.

Sources: the runtime's documents of `aclInit` and `acl.mdl.set_dump`; msprobe 26.2
npu_dump_data.py.
"""

from __future__ import annotations

import os
import shutil
import stat
from typing import Any

from .files import digested, write
from .refused import RefusedError

FOLDER, CONFIG = "dump", "acl.json"
LONGEST_PATH = 512


def ask_for_dump(models: list[str]) -> str:
    """Write the configuration by which acl dumps what every operator gives.

    Args:
        models: the OM's name, as its file has it without suffix, and those of its graphs.

    Returns:
        The path of the configuration.
    """
    folder = os.path.abspath(FOLDER)
    if len(folder) > LONGEST_PATH:
        text = "acl dumps into no folder whose path has more than {} characters: {}"
        raise RefusedError(text.format(LONGEST_PATH, folder))
    shutil.rmtree(folder, ignore_errors=True)  # of a run that broke off on a board
    os.makedirs(folder)
    asked = {
        "dump_list": [{"model_name": name} for name in models],
        "dump_path": folder,
        "dump_mode": "output",
        "dump_op_switch": "off",
    }
    write(CONFIG, {"dump": asked})
    return os.path.abspath(CONFIG)


def dumped(most_bytes: int) -> list[dict[str, Any]]:
    """Give each file a number for a name; tell where it lay, its size and its digest."""
    there = [os.path.join(at, name) for at, _, names in os.walk(FOLDER) for name in names]
    # To open a pipe would wait for ever; nor may a link lead out of the folder.
    paths = [path for path in there if stat.S_ISREG(os.lstat(path).st_mode)]
    if not paths:
        # Of a configuration that it does not like acl says nothing.
        with open(CONFIG, encoding="utf-8") as file:
            text = "nothing was dumped; acl was asked by {}"
            raise RefusedError(text.format(file.read()))
    total = sum(os.path.getsize(path) for path in paths)
    if total > most_bytes:
        text = "the dump has {} bytes in {} files, compare.dump_gb allows {} bytes"
        raise RefusedError(text.format(total, len(paths), most_bytes))
    files = []
    for number, path in enumerate(sorted(paths)):
        kept = f"{FOLDER}-{number}"
        os.replace(path, kept)
        size, digest = digested(kept)
        said = {"file": kept, "path": os.path.relpath(path, FOLDER)}
        files.append({**said, "size": size, "sha256": digest})
    return files
