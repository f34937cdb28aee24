"""Runs `msaccucmp`'s own command in this process: TOOL ARGUMENTS....

Runs by itself, and imports nothing of ours. The tool reads the header of a dump by a
library of CANN; protobuf itself takes its place, by the definition in `dump_files.py`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import multiprocessing
import os
import runpy
import struct
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from google.protobuf import json_format

# It asks psutil how much memory is free, to choose how many processes to start.
free = SimpleNamespace(total=1 << 34, available=1 << 34, free=1 << 34, percent=10.0)
psutil = ModuleType("psutil")
psutil.virtual_memory = lambda: free  # type: ignore[attr-defined]
sys.modules["psutil"] = psutil
multiprocessing.set_start_method("fork")  # so that they have what is put in place here

tool = sys.argv[1]
sys.path.insert(0, tool)

from dump_parse.big_dump_data import BigDumpDataParser  # noqa: E402

found = importlib.util.spec_from_file_location(
    "dump_files", Path(__file__).resolve().parent.parent / "dump_files.py"
)
assert found is not None
assert found.loader is not None
dump_files = importlib.util.module_from_spec(found)
found.loader.exec_module(dump_files)


def parse(self: Any) -> None:
    """Take the place of the library's ParseDumpProtoToJson."""
    data = Path(self.dump_file_path).read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    message = dump_files.MESSAGE["DumpData"].FromString(data[8 : 8 + length])
    self.dump_json_data = json_format.MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )


BigDumpDataParser._parse_dump_to_json = parse
sys.argv = ["msaccucmp", *sys.argv[2:]]
status, said = 0, io.StringIO()
with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
    try:
        runpy.run_path(os.path.join(tool, "msaccucmp.py"), run_name="__main__")
    except SystemExit as stopped:
        status = int(stopped.code or 0)
sys.stdout.write(json.dumps([status, said.getvalue()]))
