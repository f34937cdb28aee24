#!/usr/bin/env python3
"""Stands in for `atc.bin` where no CANN is installed: same words, codes and files.

Written from the contract of the real command alone; nothing of ascendflow is imported, and
it fails if it could be. What it should do wrong stands in the file `fault` of its toolkit,
the format of its errors in the file `format`. It needs a Python and nothing else.
"""

from __future__ import annotations

import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

TOOLKIT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATH = re.compile(r"[A-Za-z0-9._/\u4e00-\u9fa5-]+")
REQUIRED = ("model", "framework", "output", "soc_version")
PATHS = ("model", "output", "keep_dtype", "modify_mixlist", "insert_op_conf")
GEARS = ("dynamic_batch_size", "dynamic_image_size", "dynamic_dims", "input_shape_range")
FLAGS = {
    *(*REQUIRED, *PATHS, *GEARS),
    *(
        "om",
        "json",
        "mode",
        "input_format",
        "input_shape",
        "input_hint_shape",
        "input_fp16_nodes",
    ),
    *("output_type", "out_nodes", "host_env_os", "host_env_cpu", "core_type", "log"),
    *("aicore_num", "external_weight", "precision_mode", "precision_mode_v2"),
    *("customize_dtypes", "op_precision_mode", "op_select_implmode", "debug_dir"),
    *("optypelist_for_implmode", "deterministic", "fusion_switch_file", "is_weight_clip"),
    *("enable_compress_weight", "compress_weight_conf", "op_compiler_cache_mode"),
    *(
        "op_bank_path",
        "mdl_bank_path",
        "op_compiler_cache_dir",
        "op_debug_level",
        "oo_constant_folding",
        "export_compile_stat",
    ),
}


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def said(name: str) -> str:
    """Return what a file of the toolkit says, or nothing."""
    try:
        with open(os.path.join(TOOLKIT, name), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def refuse(code: str, title: str, message: str) -> int:
    """Print an error in the format that is asked for."""
    say("...")
    say(
        "ATC run failed, Please check the detail log, Try 'atc --help' for more information"
    )
    if said("format") == "new":
        stamp = "[PID: 7] 2026-01-02-03:04:05.678.901"
        say(f"{stamp} {title}({code}): {message}")
        say("        Possible Cause: N/A")
    else:
        say(f"{code}: {message}")
    say("        Solution: Try again with a valid argument.")
    say("        TraceBack (most recent call last):")
    say("        build graph failed")
    return 255


def parsed(arguments: list[str]) -> dict[str, str]:
    """Read `--name=value`; the real command takes more spellings, which we do not use."""
    values: dict[str, str] = {}
    for argument in arguments:
        name, equals, value = argument[2:].partition("=")
        if not argument.startswith("--") or not equals:
            sys.stderr.write("ERROR: Non-option parameter: " + argument + "\n")
            raise SystemExit(255)
        if name not in FLAGS:
            text = f"ERROR: unknown command line flag '{name}'"
            sys.stderr.write(text + "\n")
            raise SystemExit(255)
        if " " in value:
            raise SystemExit("the stand-in takes no spaces")
        values[name] = value
    return values


def is_path(path: str, *, made: bool) -> bool:
    """Whether a path is of the characters that are taken, and there if it must be.

    Of what is there it is the whole path that must be of them, links followed.
    """
    if made:
        return bool(PATH.fullmatch(path))
    return os.path.isfile(path) and bool(PATH.fullmatch(os.path.realpath(path)))


def mistake(values: dict[str, str]) -> tuple[str, str, str] | None:
    """Return the first rule that is broken, as (code, title, message)."""
    for name in REQUIRED:
        if not values.get(name):
            return ("E10054", "Invalid_Argument", f"[--{name}] is required")
    for name in PATHS:
        if name in values and not is_path(values[name], made=name == "output"):
            return ("E10001", "Invalid_Argument", f"[--{name}] is invalid")
    code = wrong_options(values)
    if code is not None:
        return (code, "Invalid_Argument", "options do not go together")
    code = wrong_shapes(values) or wrong_names(values)
    if code is None:
        return None
    return (code, "Invalid_Argument", "--input_shape or its gears are wrong")


def wrong_options(values: dict[str, str]) -> str | None:
    """Return the code of the first rule between options that is broken."""
    mode = values.get("precision_mode", values.get("precision_mode_v2", "force_fp16"))
    nano = values.get("soc_version", "").startswith("Ascend035")
    per_node = ":" in values.get("output_type", "")
    for broken, code in (
        (values.get("framework") != "5", "E10007"),
        (values.get("oo_constant_folding", "") not in ("", "true", "false"), "E10001"),
        (nano != (values.get("mode", "0") == "30"), "E10055"),
        ("precision_mode" in values and "precision_mode_v2" in values, "E10056"),
        ("modify_mixlist" in values and "mix" not in mode, "E10001"),
        (
            "optypelist_for_implmode" in values and "op_select_implmode" not in values,
            "E10001",
        ),
        (
            values.get("enable_compress_weight") == "true"
            and "compress_weight_conf" in values,
            "E10047",
        ),
        (per_node and "out_nodes" not in values, "E10001"),
    ):
        if broken:
            return code
    return None


def shapes_of(text: str) -> dict[str, list[str]] | None:
    """Split `name:1,3;scalar:` at the last colon of each item; None where there is none."""
    shapes = {}
    for item in text.split(";"):
        name, colon, sizes = item.rpartition(":")
        if not colon or not re.fullmatch(r"[0-9, ~-]*", sizes):
            return None
        shapes[name] = sizes.split(",") if sizes else []
    return shapes


def wrong_shapes(values: dict[str, str]) -> str | None:
    """Return the code of the first check of shapes and gears that fails, in their order."""
    gears = [name for name in GEARS if name in values]
    text = values.get("input_shape", "")
    if gears and "input_shape_range" not in values and "~" in text:
        return "E10040"
    if len(gears) > 1:
        return "E10009"
    if not text:
        return "E10004" if gears and gears != ["input_shape_range"] else None
    shapes = shapes_of(text)
    if shapes is None:
        return "E10002"
    checks = {
        "dynamic_batch_size": wrong_batches,
        "dynamic_image_size": wrong_images,
        "dynamic_dims": wrong_dims,
    }
    kind = gears[0] if gears else ""
    if kind not in checks:
        return None
    code = checks[kind](shapes, values)
    return code or wrong_gears(values[kind].replace(",", ";" if "batch" in kind else ","))


def wrong_names(values: dict[str, str]) -> str | None:
    """Hold the shapes to the inputs of the model: their names, and how many sizes."""
    from atc_operators import inputs_of

    with open(values["model"], "rb") as file:
        inputs = inputs_of(file.read())
    if not values.get("input_shape"):
        return None if all(all(dims) for dims in inputs.values()) else "E10001"
    for name, sizes in (shapes_of(values["input_shape"]) or {}).items():
        if name not in inputs:
            return "E10016"
        if len(sizes) != len(inputs[name]):
            return "E10049"
    return None


def wrong_batches(shapes: dict[str, list[str]], values: dict[str, str]) -> str | None:
    """Only the first size may be open, of no scalar."""
    if any(not sizes for sizes in shapes.values()):
        return "E10012"
    opened = [sizes for sizes in shapes.values() if sizes[0] == "-1"]
    if any("-1" in sizes[1:] for sizes in opened):
        return "E10018"
    if not opened:
        return "E10031"
    return None if re.fullmatch(r"[0-9,]+", values["dynamic_batch_size"]) else "E10003"


def wrong_images(shapes: dict[str, list[str]], values: dict[str, str]) -> str | None:
    """Only height and width may be open, both, and each gear names the two."""
    opened = [sizes for sizes in shapes.values() if "-1" in sizes]
    if any(len(sizes) != 4 for sizes in opened):
        return "E10019"
    if values.get("input_format") not in ("NCHW", "NHWC"):
        return "E10003"
    if not opened or any([s == "-1" for s in each] != [0, 0, 1, 1] for each in opened):
        return "E10019"
    pairs = values["dynamic_image_size"].split(";")
    return "E10020" if any(len(pair.split(",")) != 2 for pair in pairs) else None


def wrong_dims(shapes: dict[str, list[str]], values: dict[str, str]) -> str | None:
    """Each gear has a positive value for each open size."""
    opened = sum(sizes.count("-1") for sizes in shapes.values())
    if not opened:
        return "E10040"
    gears = [gear.split(",") for gear in values["dynamic_dims"].split(";")]
    if any(len(gear) != opened for gear in gears):
        return "E10003"
    whole = all(value.isdigit() and int(value) for gear in gears for value in gear)
    if not whole:
        return "E10001"
    return "E10001" if "insert_op_conf" in values else None


def wrong_gears(text: str) -> str | None:
    """Count the gears and look for equal ones."""
    gears = [gear.split(",") for gear in text.split(";")]
    if len(gears) < 2:
        return "E10035"
    if len(gears) > 100:
        return "E10036"
    if len({len(gear) for gear in gears}) > 1:
        return "E10037"
    if any(int(value) <= 0 for gear in gears for value in gear):
        return "E10038"
    return "E10039" if len({tuple(gear) for gear in gears}) < len(gears) else None


def version_of(package: str) -> str:
    """Return what a package's version.info says."""
    return said(package + "/version.info").partition("Version=")[2].split("\n")[0]


def model_definition(values: dict[str, str], ops: Sequence[dict[str, object]]) -> bytes:
    """Write a ModelDef: its name, its graph, and attributes as text."""
    from atc_operators import field, graph_definition

    fault = said("fault")
    compiler = "7.6.0" if fault == "another compiler" else version_of("compiler")
    attributes = {
        "atc_cmdline": " ".join([os.path.abspath(__file__), *sys.argv[1:]]),
        "atc_version": compiler,
        "opp_version": version_of("opp"),
        "soc_version": "Ascend310" if fault == "another soc" else values["soc_version"],
    }
    entries = [
        field(11, field(1, name.encode()) + field(2, field(2, text.encode())))
        for name, text in sorted(attributes.items())
    ]
    graph = field(7, graph_definition(ops))
    return b"".join([field(1, b"model"), graph, *entries])


def aipp_of(values: dict[str, str]) -> str:
    """Return what is built in of AIPP, as its file has it."""
    if "insert_op_conf" not in values:
        return ""
    with open(values["insert_op_conf"], encoding="utf-8") as file:
        return file.read()


def kernels() -> bytes:
    """Write a store of two kernels, in whichever order; the real one is of no order."""
    turned = said("fault") == "reordered kernels"
    stored = b""
    for name in ("relu_k", "add_k") if turned else ("add_k", "relu_k"):
        code = b"\x7fELF " + name.encode()
        stored += struct.pack("<III", 0x5D776EFD, len(name), len(code))
        stored += name.encode() + code
    return stored


def om(values: dict[str, str]) -> bytes:
    """Make a file of an OM's shape: header, 64-bit table, three partitions."""
    from atc_operators import operators

    # A device that is none either runs the model from here; see `device/standin_om.py`.
    with open(values["model"], "rb") as file:
        model = file.read()
    ops = operators(model)
    made = {**values, "operators": ops, "aipp": aipp_of(values)}
    weights = json.dumps(made, sort_keys=True).encode() + b"\n" + model
    parts = [(0, model_definition(values, ops)), (1, weights), (3, kernels())]
    table, offset = struct.pack("<I4x", len(parts)), 0
    for kind, content in parts:
        table += struct.pack("<I4xQQ", kind, offset, len(content))
        offset += len(content)
    payload = table + b"".join(content for _, content in parts)
    header = bytearray(256)
    struct.pack_into("<4sII", header, 0, b"IMOD", 256, 0x20000000)
    header[84:116] = os.path.basename(values["output"]).encode()[:31].ljust(32, b"\0")
    struct.pack_into("<I", header, 156, 1)
    struct.pack_into("<Q", header, 184, len(payload))
    is_open = (
        os.path.basename(name_of(values)) != os.path.basename(values["output"]) + ".om"
    )
    struct.pack_into("<BB", header, 192, is_open, is_open)
    return bytes(header) + payload


def spoilt(content: bytes, fault: str) -> bytes:
    """Cut a file short, or damage it where no length is; as a full disk or a bug may."""
    if fault == "cut short":
        return content[:-5]
    begin = 256 + 8 + 3 * 24  # behind header and table
    hurt = content[:begin] + b"\xff" * 8 + content[begin + 8 :]
    return hurt if fault == "damaged" else content


def name_of(values: dict[str, str]) -> str:
    """Return the model's path; an open size without gears puts the host in the name."""
    shape = values.get("input_shape", "") + values.get("input_shape_range", "")
    opened = re.search(r"-1|~", shape) and not any(name in values for name in GEARS[:3])
    os_name = values.get("host_env_os", "linux")
    host = f"_{os_name}_{values.get('host_env_cpu', 'x86_64')}"
    return values["output"] + (host if opened else "") + ".om"


def die(fault: str) -> None:
    """Die, or hang, as a compiler does that says no word."""
    if fault == "hang":
        say("still compiling")
        time.sleep(600)
    if fault in ("SIGKILL", "SIGSEGV"):
        os.kill(os.getpid(), getattr(signal, fault))


def unknown_operator() -> int:
    """Refuse a node."""
    what = "No ONNX parser is registered for optype ai.onnx::13::Relu."
    return refuse("E16002", "Invalid_Argument_ONNX_Model_Data", what)


def broken_kernel() -> int:
    """Refuse what was compiled for a node."""
    what = "Failed to compile Op [/tome1/Relu_trans]. (oppath: [...], optype: [Relu])"
    return refuse("E40021", "Compile_Failed", what)


def inner_error() -> int:
    """Fail for no reason that is told."""
    say("...")
    say("ATC run failed, Please check the detail log, Try 'atc --help'")
    say("E19999: Inner Error!")
    say("        An unknown error occurred. Please check the log.")
    return 255


def silent() -> int:
    """Fail without a word."""
    return 255


def killed_child() -> int:
    """Fail as a shell does whose command was killed: no text, and 128 more than SIGKILL."""
    os._exit(137)


def python_too_new() -> int:
    """Die in the Python of the operator compiler, 3.13 or later."""
    say("Traceback (most recent call last):")
    say("TypeError: cannot pickle 'FrameLocalsProxy' object")
    return 1


def numpy_too_new() -> int:
    """Die in the numpy of the operator compiler, 2.0 or later."""
    say("AttributeError: `np.float_` was removed in the NumPy 2.0 release.")
    return 1


FAILURES = {
    "137": killed_child,
    "python 3.13": python_too_new,
    "numpy 2": numpy_too_new,
    "unknown operator": unknown_operator,
    "kernel": broken_kernel,
    "inner": inner_error,
    "silent 255": silent,
}


def of_an_om(values: dict[str, str]) -> int:
    """Write an OM's JSON (mode 1), or show what it says of itself (mode 6)."""
    from atc_modes import show, write_json

    for name in ("om", "json")[: 2 if values["mode"] == "1" else 1]:
        if not values.get(name):
            return refuse("E10054", "Invalid_Argument", f"[--{name}] is required")
    if "framework" in values and values["mode"] == "6":
        return refuse("E10057", "Invalid_Argument", "--framework is not for mode 6")
    say("...")
    if values["mode"] == "1":
        write_json(values["om"], values["json"])
    else:
        show(values["om"], say)
    say("ATC run success, welcome to the next use.")
    return 0


def main() -> int:
    """Compile nothing, and say what the real command would."""
    say("ATC start working now, please wait for a moment.")
    ours = subprocess.run(
        ["python3", "-c", "import ascendflow"], check=False, capture_output=True
    )
    if ours.returncode == 0:
        return refuse("E40002", "Environment", "ascendflow can be imported")
    values = parsed(sys.argv[1:])
    if values.get("mode") in ("1", "6"):
        return of_an_om(values)
    broken = mistake(values)
    if broken is not None:
        return refuse(*broken)
    fault = said("fault")
    die(fault)
    if fault in FAILURES:
        return FAILURES[fault]()
    if fault != "no file":
        content = om(values)
        with open(name_of(values), "wb") as file:
            file.write(spoilt(content, fault))
    if values.get("external_weight") == "1":
        os.makedirs(os.path.join(os.path.dirname(values["output"]), "weight"))
        weight = os.path.join(os.path.dirname(values["output"]), "weight", "weight_0f")
        with open(weight, "wb") as file:
            file.write(b"\0" * 16)
    if fault == "failure line":
        refuse("E19999", "Inner_Error", "it failed all the same")
        return 0
    say("...")
    say("ATC run success, welcome to the next use.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
